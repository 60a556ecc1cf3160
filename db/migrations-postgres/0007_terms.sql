DROP INDEX "user_summaries_created_at";--> statement-breakpoint
DROP INDEX "user_summaries_last_end";--> statement-breakpoint
DROP INDEX "subscriptions_list";--> statement-breakpoint
DROP INDEX "subscriptions_clients";--> statement-breakpoint
DROP INDEX "subscriptions_group_clients";--> statement-breakpoint
DROP INDEX "subscriptions_owner";--> statement-breakpoint
DROP INDEX "subscriptions_held";--> statement-breakpoint
DROP INDEX "subscriptions_held_ends";--> statement-breakpoint
DROP INDEX "subscriptions_reminders";--> statement-breakpoint
DROP INDEX "subscriptions_limited";--> statement-breakpoint
DROP INDEX "subscriptions_near_limit";--> statement-breakpoint
ALTER TABLE "user_summaries" ADD COLUMN "disabled" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "gift_codes" ADD COLUMN "start_seconds" bigint;--> statement-breakpoint
ALTER TABLE "gift_codes" ADD COLUMN "start_by" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "disabled_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "start_seconds" bigint;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "start_by" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "started_at" text collate "C";--> statement-breakpoint
CREATE INDEX "user_summaries_disabled" ON "user_summaries" USING btree ("created_at","tg_id") WHERE disabled > 0;--> statement-breakpoint
CREATE INDEX "subscriptions_disabled" ON "subscriptions" USING btree ("created_at","expires_at","node","plan","tg_id","held_at") WHERE active = 1 and disabled_at is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_disabled_ends" ON "subscriptions" USING btree ("expires_at","node","plan","tg_id") WHERE active = 1 and disabled_at is not null;--> statement-breakpoint
CREATE INDEX "user_summaries_created_at" ON "user_summaries" USING btree ("created_at","tg_id","last_end","held","banned","disabled");--> statement-breakpoint
CREATE INDEX "user_summaries_last_end" ON "user_summaries" USING btree ("last_end","held","created_at","tg_id","banned","disabled");--> statement-breakpoint
CREATE INDEX "subscriptions_list" ON "subscriptions" USING btree ("tg_id","created_at","active","held_at","expires_at","uuid","node","plan","up_bytes","down_bytes","node_group","quota_bytes","used_bytes","extra_bytes","resets_at","limited_at","disabled_at","start_by","start_seconds");--> statement-breakpoint
CREATE INDEX "subscriptions_clients" ON "subscriptions" USING btree ("node","uuid","expires_at","tg_id","limited_at") WHERE active = 1 and disabled_at is null and held_at is null;--> statement-breakpoint
CREATE INDEX "subscriptions_group_clients" ON "subscriptions" USING btree ("node_group","uuid","expires_at","tg_id","node","limited_at") WHERE active = 1 and disabled_at is null and held_at is null and node_group is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_owner" ON "subscriptions" USING btree ("tg_id","expires_at","held_at","disabled_at") WHERE active <> 0;--> statement-breakpoint
CREATE INDEX "subscriptions_held" ON "subscriptions" USING btree ("created_at","expires_at","node","plan","tg_id") WHERE active = 1 and disabled_at is null and held_at is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_held_ends" ON "subscriptions" USING btree ("expires_at","node","plan","tg_id") WHERE active = 1 and disabled_at is null and held_at is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_reminders" ON "subscriptions" USING btree ("reminded","expires_at") WHERE active = 1 and disabled_at is null and held_at is null;--> statement-breakpoint
CREATE INDEX "subscriptions_limited" ON "subscriptions" USING btree ("created_at","expires_at") WHERE active = 1 and disabled_at is null and held_at is null and limited_at is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_near_limit" ON "subscriptions" USING btree ("node","node_group") WHERE active = 1 and disabled_at is null and held_at is null and quota_notice > 0 and limited_at is null;