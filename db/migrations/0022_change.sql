ALTER TABLE `payments` ADD `given_seconds` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `node_changed_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `plan_changed_at` text;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `day_worth` integer;