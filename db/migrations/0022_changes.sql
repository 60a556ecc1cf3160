CREATE TABLE `list_templates` (
	`format` text PRIMARY KEY NOT NULL,
	`body` text NOT NULL,
	`updated_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `node_live` (
	`node` text PRIMARY KEY NOT NULL,
	`at` text NOT NULL,
	`online` integer NOT NULL,
	`up_rate` integer,
	`down_rate` integer,
	`up_bytes` integer NOT NULL,
	`down_bytes` integer NOT NULL,
	`rx_bytes` integer,
	`tx_bytes` integer,
	`host_json` text,
	`core_uptime_s` integer,
	`spark_json` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `node_uptime` (
	`node` text NOT NULL,
	`day` text NOT NULL,
	`ok` integer DEFAULT 0 NOT NULL,
	`bad` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`node`, `day`)
);
--> statement-breakpoint
CREATE INDEX `node_uptime_day` ON `node_uptime` (`day`);--> statement-breakpoint
ALTER TABLE `payments` ADD `given_seconds` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `last_online_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `node_changed_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `plan_changed_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `day_worth` integer;--> statement-breakpoint
CREATE INDEX `subscriptions_online` ON `subscriptions` (`last_online_at`,`tg_id`) WHERE last_online_at is not null;