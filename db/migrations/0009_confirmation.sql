CREATE TABLE `recovery_codes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`admin_id` integer NOT NULL,
	`code` text NOT NULL,
	`used_at` text,
	FOREIGN KEY (`admin_id`) REFERENCES `admins`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `recovery_codes_admin_id` ON `recovery_codes` (`admin_id`,`code`);--> statement-breakpoint
ALTER TABLE `admin_sessions` ADD `panel` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `admin_sessions` ADD `confirmed_at` text;