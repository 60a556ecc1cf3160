DROP INDEX `gift_codes_created_at`;--> statement-breakpoint
CREATE INDEX `gift_codes_created_at` ON `gift_codes` (`created_at`,`revoked_at`,`used_at`,`expires_at`,`node`,`plan`,`used_by`,`code`);--> statement-breakpoint
CREATE INDEX `outbox_open` ON `outbox` (`kind`) WHERE status in ('ready', 'sending');--> statement-breakpoint
CREATE INDEX `payments_provider` ON `payments` (`provider`,`created_at`);--> statement-breakpoint
CREATE INDEX `payments_plan` ON `payments` (`plan`,`created_at`);