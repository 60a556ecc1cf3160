CREATE TABLE `link_codes` (
	`tg_id` integer PRIMARY KEY NOT NULL,
	`code` text NOT NULL,
	`expires_at` text NOT NULL,
	FOREIGN KEY (`tg_id`) REFERENCES `users`(`tg_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `link_codes_code_unique` ON `link_codes` (`code`);--> statement-breakpoint
CREATE TABLE `sequences` (
	`name` text PRIMARY KEY NOT NULL,
	`last` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `user_tokens` (
	`token` text PRIMARY KEY NOT NULL,
	`tg_id` integer NOT NULL,
	`kind` text NOT NULL,
	`format` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tg_id`) REFERENCES `users`(`tg_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `user_tokens_tg_id` ON `user_tokens` (`tg_id`);--> statement-breakpoint
CREATE TABLE `user_tags` (
	`tag` text NOT NULL,
	`tg_id` integer NOT NULL,
	PRIMARY KEY(`tag`, `tg_id`)
);
--> statement-breakpoint
ALTER TABLE `users` ADD `telegram_id` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `name` text;--> statement-breakpoint
ALTER TABLE `users` ADD `email` text;--> statement-breakpoint
ALTER TABLE `users` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
UPDATE `users` SET `telegram_id` = `tg_id`;--> statement-breakpoint
CREATE UNIQUE INDEX `users_telegram_id_unique` ON `users` (`telegram_id`);--> statement-breakpoint
CREATE INDEX `users_name` ON `users` (lower("name")) WHERE name is not null;--> statement-breakpoint
CREATE INDEX `users_email` ON `users` (`email`) WHERE email is not null;--> statement-breakpoint
CREATE INDEX `users_linked` ON `users` (`telegram_id`) WHERE tg_id < 0;