DROP INDEX "subscriptions_list";--> statement-breakpoint
DROP INDEX "subscriptions_clients";--> statement-breakpoint
DROP INDEX "subscriptions_group_clients";--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "traffic_ratio" bigint DEFAULT 100 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "quota_bytes" bigint;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "quota_period" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "gift_codes" ADD COLUMN "quota_bytes" bigint;--> statement-breakpoint
ALTER TABLE "gift_codes" ADD COLUMN "quota_period" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "quota_gb" bigint;--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "quota_period" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "hwid_limit" bigint;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "quota_bytes" bigint;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "quota_period" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "quota_anchor" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "used_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "used_rest" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "extra_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "resets_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "limited_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "quota_notice" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "subscriptions_resets" ON "subscriptions" USING btree ("resets_at") WHERE active = 1 and resets_at is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_limited" ON "subscriptions" USING btree ("created_at","expires_at") WHERE active = 1 and held_at is null and limited_at is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_near_limit" ON "subscriptions" USING btree ("node","node_group") WHERE active = 1 and held_at is null and quota_notice > 0 and limited_at is null;--> statement-breakpoint
CREATE INDEX "subscriptions_list" ON "subscriptions" USING btree ("tg_id","created_at","active","held_at","expires_at","uuid","node","plan","up_bytes","down_bytes","node_group","quota_bytes","used_bytes","extra_bytes","resets_at","limited_at");--> statement-breakpoint
CREATE INDEX "subscriptions_clients" ON "subscriptions" USING btree ("node","uuid","expires_at","tg_id","limited_at") WHERE active = 1 and held_at is null;--> statement-breakpoint
CREATE INDEX "subscriptions_group_clients" ON "subscriptions" USING btree ("node_group","uuid","expires_at","tg_id","node","limited_at") WHERE active = 1 and held_at is null and node_group is not null;