CREATE TABLE `ending_counts` (
	`day` text NOT NULL,
	`node` text NOT NULL,
	`plan` text NOT NULL,
	`n` integer NOT NULL,
	PRIMARY KEY(`day`, `node`, `plan`)
);
--> statement-breakpoint
CREATE TABLE `tallies` (
	`name` text NOT NULL,
	`slot` text NOT NULL,
	`n` integer NOT NULL,
	PRIMARY KEY(`name`, `slot`)
);
--> statement-breakpoint
CREATE TABLE `user_summaries` (
	`tg_id` integer PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL,
	`banned` integer NOT NULL,
	`last_end` text,
	`held` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `user_summaries_created_at` ON `user_summaries` (`created_at`,`tg_id`,`last_end`,`held`,`banned`);--> statement-breakpoint
CREATE INDEX `user_summaries_last_end` ON `user_summaries` (`last_end`,`held`,`created_at`,`tg_id`,`banned`);--> statement-breakpoint
CREATE INDEX `user_summaries_held` ON `user_summaries` (`created_at`,`tg_id`) WHERE held > 0;--> statement-breakpoint
CREATE INDEX `user_summaries_banned` ON `user_summaries` (`created_at`,`tg_id`) WHERE banned = 1;--> statement-breakpoint
DROP INDEX `users_created_at`;