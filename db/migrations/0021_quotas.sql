DROP INDEX `subscriptions_list`;--> statement-breakpoint
DROP INDEX `subscriptions_clients`;--> statement-breakpoint
DROP INDEX `subscriptions_group_clients`;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_bytes` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_anchor` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `used_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `used_rest` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `extra_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `resets_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `limited_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_notice` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `subscriptions_resets` ON `subscriptions` (`resets_at`) WHERE active = 1 and resets_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_limited` ON `subscriptions` (`created_at`,`expires_at`) WHERE active = 1 and held_at is null and limited_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_near_limit` ON `subscriptions` (`node`,`node_group`) WHERE active = 1 and held_at is null and quota_notice > 0 and limited_at is null;--> statement-breakpoint
CREATE INDEX `subscriptions_list` ON `subscriptions` (`tg_id`,`created_at`,`active`,`held_at`,`expires_at`,`uuid`,`node`,`plan`,`up_bytes`,`down_bytes`,`node_group`,`quota_bytes`,`used_bytes`,`extra_bytes`,`resets_at`,`limited_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_clients` ON `subscriptions` (`node`,`uuid`,`expires_at`,`tg_id`,`limited_at`) WHERE active = 1 and held_at is null;--> statement-breakpoint
CREATE INDEX `subscriptions_group_clients` ON `subscriptions` (`node_group`,`uuid`,`expires_at`,`tg_id`,`node`,`limited_at`) WHERE active = 1 and held_at is null and node_group is not null;--> statement-breakpoint
ALTER TABLE `nodes` ADD `traffic_ratio` integer DEFAULT 100 NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `quota_bytes` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `gift_codes` ADD `quota_bytes` integer;--> statement-breakpoint
ALTER TABLE `gift_codes` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `plans` ADD `quota_gb` integer;--> statement-breakpoint
ALTER TABLE `plans` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `plans` ADD `hwid_limit` integer;