CREATE TABLE `admin_sessions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`token` text NOT NULL,
	`admin_id` integer NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`last_seen_at` text NOT NULL,
	`ip` text NOT NULL,
	`user_agent` text,
	FOREIGN KEY (`admin_id`) REFERENCES `admins`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `admin_sessions_token_unique` ON `admin_sessions` (`token`);--> statement-breakpoint
CREATE INDEX `admin_sessions_admin_id` ON `admin_sessions` (`admin_id`);--> statement-breakpoint
CREATE TABLE `admins` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`username` text NOT NULL,
	`password_hash` text NOT NULL,
	`totp_secret` text,
	`totp_last_step` integer,
	`created_at` text NOT NULL,
	`last_login_at` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `admins_username` ON `admins` (lower("username"));--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` text NOT NULL,
	`admin` text,
	`ip` text NOT NULL,
	`action` text NOT NULL,
	`object` text DEFAULT '' NOT NULL,
	`detail` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_log_at` ON `audit_log` (`at`);--> statement-breakpoint
CREATE TABLE `bot_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`wanted_generation` integer DEFAULT 0 NOT NULL,
	`running_generation` integer DEFAULT 0 NOT NULL,
	`heartbeat_at` text,
	`username` text
);
--> statement-breakpoint
CREATE TABLE `counters` (
	`core` text NOT NULL,
	`uuid` text NOT NULL,
	`epoch` text NOT NULL,
	`up` integer NOT NULL,
	`down` integer NOT NULL,
	PRIMARY KEY(`uuid`, `core`),
	FOREIGN KEY (`uuid`) REFERENCES `subscriptions`(`uuid`) ON UPDATE cascade ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `devices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tg_id` integer NOT NULL,
	`hwid` text NOT NULL,
	`device_os` text,
	`device_model` text,
	`user_agent` text,
	`created_at` text NOT NULL,
	`last_seen_at` text NOT NULL,
	FOREIGN KEY (`tg_id`) REFERENCES `users`(`tg_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_tg_id_hwid` ON `devices` (`tg_id`,`hwid`);--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`event` text NOT NULL,
	`data` text NOT NULL,
	`status` text DEFAULT 'ready' NOT NULL,
	`http_status` integer,
	`error` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `events_created_at` ON `events` (`created_at`);--> statement-breakpoint
CREATE INDEX `events_open` ON `events` (`created_at`) WHERE status in ('ready', 'sending');--> statement-breakpoint
CREATE TABLE `gift_codes` (
	`code` text PRIMARY KEY NOT NULL,
	`node` text NOT NULL,
	`plan` text NOT NULL,
	`created_by` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text,
	`used_at` text,
	`used_by` integer,
	`revoked_at` text
);
--> statement-breakpoint
CREATE INDEX `gift_codes_created_at` ON `gift_codes` (`created_at`);--> statement-breakpoint
CREATE TABLE `known_hosts` (
	`host` text NOT NULL,
	`port` integer NOT NULL,
	`key_type` text NOT NULL,
	`key` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`host`, `port`, `key_type`)
);
--> statement-breakpoint
CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`fence` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `login_attempts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`ip` text NOT NULL,
	`kind` text NOT NULL,
	`at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `login_attempts_ip` ON `login_attempts` (`ip`,`kind`,`at`);--> statement-breakpoint
CREATE INDEX `login_attempts_at` ON `login_attempts` (`at`);--> statement-breakpoint
CREATE TABLE `management_key` (
	`id` integer PRIMARY KEY NOT NULL,
	`private_key` text NOT NULL,
	`public_key` text NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `nodes` (
	`code` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`kind` text DEFAULT 'external' NOT NULL,
	`address` text NOT NULL,
	`port` integer DEFAULT 443 NOT NULL,
	`public_key` text DEFAULT '' NOT NULL,
	`private_key` text DEFAULT '' NOT NULL,
	`short_id` text DEFAULT '' NOT NULL,
	`sni` text DEFAULT '' NOT NULL,
	`flow` text DEFAULT 'xtls-rprx-vision' NOT NULL,
	`shared_uuid` text,
	`enabled` integer DEFAULT true NOT NULL,
	`status` text DEFAULT 'active' NOT NULL,
	`sort_order` integer NOT NULL,
	`transports_json` text DEFAULT '[]' NOT NULL,
	`hysteria_port` integer,
	`hysteria_password` text,
	`hysteria_obfs_password` text,
	`provision_token` text,
	`provision_expires_at` text,
	`ssh_port` integer DEFAULT 22 NOT NULL,
	`ssh_user` text,
	`host_key` text,
	`core_version` text,
	`last_seen_at` text,
	`last_error` text,
	`sync_blocked` integer DEFAULT false NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_provision_token_unique` ON `nodes` (`provision_token`);--> statement-breakpoint
CREATE TABLE `orphan_payments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider` text NOT NULL,
	`external_id` text NOT NULL,
	`amount` text,
	`currency` text,
	`found_at` text NOT NULL,
	`resolved_at` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `orphan_payments_external_id` ON `orphan_payments` (`provider`,`external_id`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tg_id` integer NOT NULL,
	`kind` text NOT NULL,
	`payload` text NOT NULL,
	`status` text DEFAULT 'ready' NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_try_at` text NOT NULL,
	`error` text,
	`created_at` text NOT NULL,
	`done_at` text
);
--> statement-breakpoint
CREATE INDEX `outbox_ready` ON `outbox` (`next_try_at`) WHERE status = 'ready';--> statement-breakpoint
CREATE INDEX `outbox_tg_id` ON `outbox` (`tg_id`);--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`tg_id` integer NOT NULL,
	`node` text NOT NULL,
	`plan` text NOT NULL,
	`provider` text NOT NULL,
	`external_id` text DEFAULT '' NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`days` integer NOT NULL,
	`shop_id` text,
	`pay_url` text,
	`pay_url_expires_at` text,
	`created_at` text NOT NULL,
	`paid_at` text,
	`failed_reason` text,
	`review_reason` text,
	`refunded_at` text,
	`deleted_user` integer DEFAULT false NOT NULL,
	`next_check_at` text,
	`checks` integer DEFAULT 0 NOT NULL,
	`source` text NOT NULL,
	`renews_uuid` text,
	`subscription_uuid` text,
	FOREIGN KEY (`renews_uuid`) REFERENCES `subscriptions`(`uuid`) ON UPDATE cascade ON DELETE set null,
	FOREIGN KEY (`subscription_uuid`) REFERENCES `subscriptions`(`uuid`) ON UPDATE cascade ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_external_id` ON `payments` (`provider`,`external_id`) WHERE external_id <> '';--> statement-breakpoint
CREATE INDEX `payments_tg_id` ON `payments` (`tg_id`);--> statement-breakpoint
CREATE INDEX `payments_created_at` ON `payments` (`created_at`);--> statement-breakpoint
CREATE INDEX `payments_next_check_at` ON `payments` (`next_check_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `payments_review` ON `payments` (`created_at`) WHERE review_reason is not null;--> statement-breakpoint
CREATE INDEX `payments_renews_uuid` ON `payments` (`renews_uuid`) WHERE renews_uuid is not null;--> statement-breakpoint
CREATE INDEX `payments_subscription_uuid` ON `payments` (`subscription_uuid`) WHERE subscription_uuid is not null;--> statement-breakpoint
CREATE TABLE `pending_logins` (
	`token` text PRIMARY KEY NOT NULL,
	`admin_id` integer NOT NULL,
	`expires_at` text NOT NULL,
	`wrong_codes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`admin_id`) REFERENCES `admins`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `plans` (
	`code` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`days` integer NOT NULL,
	`price` integer NOT NULL,
	`price_stars` integer,
	`sort_order` integer NOT NULL,
	`archived` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE `readings` (
	`core` text PRIMARY KEY NOT NULL,
	`reading` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `retired_nodes` (
	`code` text PRIMARY KEY NOT NULL,
	`address` text NOT NULL,
	`ssh_port` integer NOT NULL,
	`ssh_user` text,
	`host_key` text,
	`tries` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `revisions` (
	`name` text PRIMARY KEY NOT NULL,
	`n` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`uuid` text PRIMARY KEY NOT NULL,
	`tg_id` integer NOT NULL,
	`node` text NOT NULL,
	`plan` text NOT NULL,
	`expires_at` text NOT NULL,
	`active` integer DEFAULT true NOT NULL,
	`held_at` text,
	`revoked_at` text,
	`source` text NOT NULL,
	`payment_id` text,
	`gift_code` text,
	`up_bytes` integer DEFAULT 0 NOT NULL,
	`down_bytes` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tg_id`) REFERENCES `users`(`tg_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_payment_id_unique` ON `subscriptions` (`payment_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_list` ON `subscriptions` (`tg_id`,`created_at`,`active`,`held_at`,`expires_at`,`uuid`,`node`,`plan`,`up_bytes`,`down_bytes`);--> statement-breakpoint
CREATE INDEX `subscriptions_created_at` ON `subscriptions` (`created_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_plan` ON `subscriptions` (`plan`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_node` ON `subscriptions` (`node`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_expires_at` ON `subscriptions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_clients` ON `subscriptions` (`node`,`uuid`,`expires_at`) WHERE active = 1 and held_at is null;--> statement-breakpoint
CREATE INDEX `subscriptions_held` ON `subscriptions` (`created_at`) WHERE held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_revoked` ON `subscriptions` (`created_at`) WHERE active = 0;--> statement-breakpoint
CREATE INDEX `subscriptions_traffic` ON `subscriptions` ((up_bytes + down_bytes));--> statement-breakpoint
CREATE TABLE `traffic_samples` (
	`node` text NOT NULL,
	`day` text NOT NULL,
	`up` integer DEFAULT 0 NOT NULL,
	`down` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`node`, `day`)
);
--> statement-breakpoint
CREATE INDEX `traffic_samples_day` ON `traffic_samples` (`day`);--> statement-breakpoint
CREATE TABLE `users` (
	`tg_id` integer PRIMARY KEY NOT NULL,
	`username` text,
	`token` text NOT NULL,
	`hwid_limit` integer,
	`lang` text,
	`blocked_at` text,
	`banned_at` text,
	`note` text,
	`created_at` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_token_unique` ON `users` (`token`);--> statement-breakpoint
CREATE INDEX `users_username` ON `users` (lower("username"));--> statement-breakpoint
CREATE INDEX `users_created_at` ON `users` (`created_at`);