CREATE TABLE `account_attempts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account` text NOT NULL,
	`at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `account_attempts_account` ON `account_attempts` (`account`,`at`);--> statement-breakpoint
CREATE INDEX `account_attempts_at` ON `account_attempts` (`at`);--> statement-breakpoint
CREATE TABLE `admin_devices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`token` text NOT NULL,
	`admin_id` integer NOT NULL,
	`created_at` text NOT NULL,
	`last_seen_at` text NOT NULL,
	FOREIGN KEY (`admin_id`) REFERENCES `admins`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `admin_devices_token_unique` ON `admin_devices` (`token`);--> statement-breakpoint
CREATE INDEX `admin_devices_admin_id` ON `admin_devices` (`admin_id`,`last_seen_at`);