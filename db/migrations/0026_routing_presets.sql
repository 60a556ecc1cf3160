ALTER TABLE `node_groups` ADD `routing_preset` text;--> statement-breakpoint
ALTER TABLE `node_groups` ADD `routing_ads` integer;