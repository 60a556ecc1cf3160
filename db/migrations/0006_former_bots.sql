ALTER TABLE `outbox` ADD `bot_token` text;--> statement-breakpoint
CREATE INDEX `outbox_former_bot` ON `outbox` (`next_try_at`) WHERE bot_token is not null;