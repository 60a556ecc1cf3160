DROP INDEX `payments_tg_id`;--> statement-breakpoint
CREATE INDEX `payments_tg_id` ON `payments` (`tg_id`,`created_at`,`provider`,`node`,`plan`);--> statement-breakpoint
DROP INDEX `subscriptions_held`;--> statement-breakpoint
DROP INDEX `subscriptions_revoked`;--> statement-breakpoint
CREATE INDEX `subscriptions_held_ends` ON `subscriptions` (`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 1 and held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_revoked_ends` ON `subscriptions` (`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 0;--> statement-breakpoint
CREATE INDEX `subscriptions_held` ON `subscriptions` (`created_at`,`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 1 and held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_revoked` ON `subscriptions` (`created_at`,`expires_at`,`node`,`plan`,`tg_id`) WHERE active = 0;--> statement-breakpoint
CREATE INDEX `audit_log_action` ON `audit_log` (lower(action));--> statement-breakpoint
CREATE INDEX `audit_log_admin` ON `audit_log` (`admin`,`action`) WHERE admin is not null;--> statement-breakpoint
CREATE INDEX `outbox_done_at` ON `outbox` (`done_at`) WHERE done_at is not null;