ALTER TABLE "payments" ADD COLUMN "given_seconds" bigint;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "node_changed_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "plan_changed_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "day_worth" bigint;