ALTER TABLE `payments` ADD `order_json` text;--> statement-breakpoint
ALTER TABLE `users` ADD `device_removals` text;