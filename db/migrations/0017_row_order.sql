-- The rows keep the numbers that SQLite gave them: lists go on in their order, from cursors that were given before.
CREATE TABLE `__new_events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`event` text NOT NULL,
	`data` text NOT NULL,
	`status` text DEFAULT 'ready' NOT NULL,
	`http_status` integer,
	`error` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
INSERT INTO `__new_events`("seq", "id", "event", "data", "status", "http_status", "error", "attempts", "created_at") SELECT rowid, "id", "event", "data", "status", "http_status", "error", "attempts", "created_at" FROM `events`;--> statement-breakpoint
DROP TABLE `events`;--> statement-breakpoint
ALTER TABLE `__new_events` RENAME TO `events`;--> statement-breakpoint
CREATE UNIQUE INDEX `events_id_unique` ON `events` (`id`);--> statement-breakpoint
CREATE INDEX `events_created_at` ON `events` (`created_at`);--> statement-breakpoint
CREATE INDEX `events_open` ON `events` (`created_at`) WHERE status in ('ready', 'sending');--> statement-breakpoint
CREATE TABLE `__new_gift_codes` (
	`seq` integer PRIMARY KEY NOT NULL,
	`code` text NOT NULL,
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
INSERT INTO `__new_gift_codes`("seq", "code", "node", "plan", "created_by", "created_at", "expires_at", "used_at", "used_by", "revoked_at") SELECT rowid, "code", "node", "plan", "created_by", "created_at", "expires_at", "used_at", "used_by", "revoked_at" FROM `gift_codes`;--> statement-breakpoint
DROP TABLE `gift_codes`;--> statement-breakpoint
ALTER TABLE `__new_gift_codes` RENAME TO `gift_codes`;--> statement-breakpoint
CREATE UNIQUE INDEX `gift_codes_code_unique` ON `gift_codes` (`code`);--> statement-breakpoint
CREATE INDEX `gift_codes_created_at` ON `gift_codes` (`created_at`,`revoked_at`,`used_at`,`expires_at`,`node`,`plan`,`used_by`,`code`);--> statement-breakpoint
CREATE TABLE `__new_payments` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
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
	`order_json` text,
	`source` text NOT NULL,
	`renews_uuid` text,
	`subscription_uuid` text,
	FOREIGN KEY (`renews_uuid`) REFERENCES `subscriptions`(`uuid`) ON UPDATE cascade ON DELETE set null,
	FOREIGN KEY (`subscription_uuid`) REFERENCES `subscriptions`(`uuid`) ON UPDATE cascade ON DELETE set null
);
--> statement-breakpoint
INSERT INTO `__new_payments`("seq", "id", "tg_id", "node", "plan", "provider", "external_id", "status", "amount", "currency", "days", "shop_id", "pay_url", "pay_url_expires_at", "created_at", "paid_at", "failed_reason", "review_reason", "refunded_at", "deleted_user", "next_check_at", "checks", "order_json", "source", "renews_uuid", "subscription_uuid") SELECT rowid, "id", "tg_id", "node", "plan", "provider", "external_id", "status", "amount", "currency", "days", "shop_id", "pay_url", "pay_url_expires_at", "created_at", "paid_at", "failed_reason", "review_reason", "refunded_at", "deleted_user", "next_check_at", "checks", "order_json", "source", "renews_uuid", "subscription_uuid" FROM `payments`;--> statement-breakpoint
DROP TABLE `payments`;--> statement-breakpoint
ALTER TABLE `__new_payments` RENAME TO `payments`;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_id_unique` ON `payments` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `payments_external_id` ON `payments` (`provider`,`external_id`) WHERE external_id <> '';--> statement-breakpoint
CREATE INDEX `payments_tg_id` ON `payments` (`tg_id`,`created_at`,`provider`,`node`,`plan`);--> statement-breakpoint
CREATE INDEX `payments_created_at` ON `payments` (`created_at`);--> statement-breakpoint
CREATE INDEX `payments_provider` ON `payments` (`provider`,`created_at`);--> statement-breakpoint
CREATE INDEX `payments_plan` ON `payments` (`plan`,`created_at`);--> statement-breakpoint
CREATE INDEX `payments_paid` ON `payments` (`paid_at`,`currency`,`refunded_at`,`amount`) WHERE status = 'paid';--> statement-breakpoint
CREATE INDEX `payments_next_check_at` ON `payments` (`next_check_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `payments_review` ON `payments` (`created_at`) WHERE review_reason is not null;--> statement-breakpoint
CREATE INDEX `payments_renews_uuid` ON `payments` (`renews_uuid`) WHERE renews_uuid is not null;--> statement-breakpoint
CREATE INDEX `payments_subscription_uuid` ON `payments` (`subscription_uuid`) WHERE subscription_uuid is not null;--> statement-breakpoint
CREATE TABLE `__new_subscriptions` (
	`seq` integer PRIMARY KEY NOT NULL,
	`uuid` text NOT NULL,
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
	`reminded` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`tg_id`) REFERENCES `users`(`tg_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `__new_subscriptions`("seq", "uuid", "tg_id", "node", "plan", "expires_at", "active", "held_at", "revoked_at", "source", "payment_id", "gift_code", "up_bytes", "down_bytes", "created_at", "reminded") SELECT rowid, "uuid", "tg_id", "node", "plan", "expires_at", "active", "held_at", "revoked_at", "source", "payment_id", "gift_code", "up_bytes", "down_bytes", "created_at", "reminded" FROM `subscriptions`;--> statement-breakpoint
DROP TABLE `subscriptions`;--> statement-breakpoint
ALTER TABLE `__new_subscriptions` RENAME TO `subscriptions`;--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_uuid_unique` ON `subscriptions` (`uuid`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_payment_id_unique` ON `subscriptions` (`payment_id`);--> statement-breakpoint
CREATE INDEX `subscriptions_list` ON `subscriptions` (`tg_id`,`created_at`,`active`,`held_at`,`expires_at`,`uuid`,`node`,`plan`,`up_bytes`,`down_bytes`);--> statement-breakpoint
CREATE INDEX `subscriptions_created_at` ON `subscriptions` (`created_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_plan` ON `subscriptions` (`plan`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_node` ON `subscriptions` (`node`,`created_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_expires_at` ON `subscriptions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `subscriptions_clients` ON `subscriptions` (`node`,`uuid`,`expires_at`,`tg_id`) WHERE active = 1 and held_at is null;--> statement-breakpoint
CREATE INDEX `subscriptions_owner` ON `subscriptions` (`tg_id`,`expires_at`,`held_at`) WHERE active <> 0;--> statement-breakpoint
CREATE INDEX `subscriptions_held` ON `subscriptions` (`created_at`,`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 1 and held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_held_ends` ON `subscriptions` (`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 1 and held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_revoked` ON `subscriptions` (`created_at`,`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 0;--> statement-breakpoint
CREATE INDEX `subscriptions_revoked_ends` ON `subscriptions` (`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 0;--> statement-breakpoint
CREATE INDEX `subscriptions_traffic` ON `subscriptions` ((up_bytes + down_bytes),`up_bytes`,`down_bytes`);--> statement-breakpoint
CREATE INDEX `subscriptions_reminders` ON `subscriptions` (`reminded`,`expires_at`) WHERE active = 1 and held_at is null;