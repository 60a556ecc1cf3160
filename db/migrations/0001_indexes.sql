DROP INDEX `subscriptions_clients`;--> statement-breakpoint
DROP INDEX `subscriptions_held`;--> statement-breakpoint
DROP INDEX `subscriptions_traffic`;--> statement-breakpoint
CREATE INDEX `subscriptions_owner` ON `subscriptions` (`tg_id`,`expires_at`,`held_at`) WHERE active <> 0;--> statement-breakpoint
CREATE INDEX `subscriptions_clients` ON `subscriptions` (`node`,`uuid`,`expires_at`,`tg_id`) WHERE active = 1 and held_at is null;--> statement-breakpoint
CREATE INDEX `subscriptions_held` ON `subscriptions` (`created_at`) WHERE active = 1 and held_at is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_traffic` ON `subscriptions` ((up_bytes + down_bytes),`up_bytes`,`down_bytes`);--> statement-breakpoint
CREATE INDEX `devices_list` ON `devices` (`tg_id`,`hwid`,`last_seen_at`);--> statement-breakpoint
CREATE INDEX `payments_paid` ON `payments` (`paid_at`,`currency`,`refunded_at`,`amount`) WHERE status = 'paid';--> statement-breakpoint
CREATE INDEX `users_list` ON `users` (`token`,`hwid_limit`,`banned_at`);--> statement-breakpoint
CREATE INDEX `users_banned` ON `users` (`created_at`) WHERE banned_at is not null;