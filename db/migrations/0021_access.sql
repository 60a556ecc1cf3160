CREATE TABLE `node_hosts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`node` text NOT NULL,
	`transport` text NOT NULL,
	`label` text DEFAULT '' NOT NULL,
	`address` text NOT NULL,
	`port` integer,
	`sni` text DEFAULT '' NOT NULL,
	`host` text DEFAULT '' NOT NULL,
	`path` text DEFAULT '' NOT NULL,
	`fingerprint` text DEFAULT '' NOT NULL,
	`enabled` integer DEFAULT true NOT NULL,
	`sort_order` integer NOT NULL,
	`formats` text DEFAULT '[]' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `traffic_packs` (
	`code` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`gb` integer NOT NULL,
	`price` integer NOT NULL,
	`price_stars` integer,
	`sort_order` integer NOT NULL,
	`archived` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
DROP INDEX `user_summaries_created_at`;--> statement-breakpoint
DROP INDEX `user_summaries_last_end`;--> statement-breakpoint
ALTER TABLE `user_summaries` ADD `disabled` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `user_summaries_disabled` ON `user_summaries` (`created_at`,`tg_id`) WHERE disabled > 0;--> statement-breakpoint
CREATE INDEX `user_summaries_created_at` ON `user_summaries` (`created_at`,`tg_id`,`last_end`,`held`,`banned`,`disabled`);--> statement-breakpoint
CREATE INDEX `user_summaries_last_end` ON `user_summaries` (`last_end`,`held`,`created_at`,`tg_id`,`banned`,`disabled`);--> statement-breakpoint
DROP INDEX `subscriptions_list`;--> statement-breakpoint
DROP INDEX `subscriptions_clients`;--> statement-breakpoint
DROP INDEX `subscriptions_group_clients`;--> statement-breakpoint
DROP INDEX `subscriptions_owner`;--> statement-breakpoint
DROP INDEX `subscriptions_held`;--> statement-breakpoint
DROP INDEX `subscriptions_held_ends`;--> statement-breakpoint
DROP INDEX `subscriptions_reminders`;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `disabled_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_bytes` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_anchor` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `used_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `used_rest` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `extra_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `resets_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `limited_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `quota_notice` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `start_seconds` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `start_by` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `started_at` text;--> statement-breakpoint
CREATE INDEX `subscriptions_disabled` ON `subscriptions` (`created_at`,`expires_at`,`node`,`plan`,`tg_id`,`held_at`) WHERE active = 1 and disabled_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_disabled_ends` ON `subscriptions` (`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 1 and disabled_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_resets` ON `subscriptions` (`resets_at`) WHERE active = 1 and resets_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_limited` ON `subscriptions` (`created_at`,`expires_at`) WHERE active = 1 and disabled_at is null and held_at is null and limited_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_near_limit` ON `subscriptions` (`node`,`node_group`) WHERE active = 1 and disabled_at is null and held_at is null and quota_notice > 0 and limited_at is null;--> statement-breakpoint
CREATE INDEX `subscriptions_list` ON `subscriptions` (`tg_id`,`created_at`,`active`,`held_at`,`expires_at`,`uuid`,`node`,`plan`,`up_bytes`,`down_bytes`,`node_group`,`quota_bytes`,`used_bytes`,`extra_bytes`,`resets_at`,`limited_at`,`disabled_at`,`start_by`,`start_seconds`);--> statement-breakpoint
CREATE INDEX `subscriptions_clients` ON `subscriptions` (`node`,`uuid`,`expires_at`,`tg_id`,`limited_at`) WHERE active = 1 and disabled_at is null and held_at is null;--> statement-breakpoint
CREATE INDEX `subscriptions_group_clients` ON `subscriptions` (`node_group`,`uuid`,`expires_at`,`tg_id`,`node`,`limited_at`) WHERE active = 1 and disabled_at is null and held_at is null and node_group is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_owner` ON `subscriptions` (`tg_id`,`expires_at`,`held_at`,`disabled_at`) WHERE active <> 0;--> statement-breakpoint
CREATE INDEX `subscriptions_held` ON `subscriptions` (`created_at`,`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 1 and disabled_at is null and held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_held_ends` ON `subscriptions` (`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 1 and disabled_at is null and held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_reminders` ON `subscriptions` (`reminded`,`expires_at`) WHERE active = 1 and disabled_at is null and held_at is null;--> statement-breakpoint
ALTER TABLE `node_groups` ADD `routing_preset` text;--> statement-breakpoint
ALTER TABLE `node_groups` ADD `routing_ads` integer;--> statement-breakpoint
ALTER TABLE `nodes` ADD `hysteria_hop` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `hysteria_hopping` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `traffic_ratio` integer DEFAULT 100 NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `quota_bytes` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `kind` text DEFAULT 'access' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `pack` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `extra_bytes` integer;--> statement-breakpoint
CREATE INDEX `payments_pack` ON `payments` (`pack`) WHERE pack is not null;--> statement-breakpoint
ALTER TABLE `gift_codes` ADD `quota_bytes` integer;--> statement-breakpoint
ALTER TABLE `gift_codes` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `gift_codes` ADD `start_seconds` integer;--> statement-breakpoint
ALTER TABLE `gift_codes` ADD `start_by` text;--> statement-breakpoint
ALTER TABLE `plans` ADD `quota_gb` integer;--> statement-breakpoint
ALTER TABLE `plans` ADD `quota_period` text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE `plans` ADD `hwid_limit` integer;