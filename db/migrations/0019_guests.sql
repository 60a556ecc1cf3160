ALTER TABLE `users` ADD `guest_at` text;--> statement-breakpoint
CREATE INDEX `users_guests` ON `users` (`guest_at`) WHERE guest_at is not null;