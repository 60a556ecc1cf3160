CREATE TABLE `node_group_nodes` (
	`group_code` text NOT NULL,
	`node` text NOT NULL,
	PRIMARY KEY(`group_code`, `node`)
);
--> statement-breakpoint
CREATE INDEX `node_group_nodes_node` ON `node_group_nodes` (`node`,`group_code`);--> statement-breakpoint
CREATE TABLE `node_groups` (
	`code` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`sort_order` integer NOT NULL,
	`hide_down` integer DEFAULT false NOT NULL,
	`created_at` text NOT NULL
);
--> statement-breakpoint
DROP INDEX `subscriptions_list`;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `node_group` text;--> statement-breakpoint
CREATE INDEX `subscriptions_group_clients` ON `subscriptions` (`node_group`,`uuid`,`expires_at`,`tg_id`,`node`) WHERE active = 1 and held_at is null and node_group is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_group` ON `subscriptions` (`node_group`,`created_at`) WHERE node_group is not null;--> statement-breakpoint
CREATE INDEX `subscriptions_list` ON `subscriptions` (`tg_id`,`created_at`,`active`,`held_at`,`expires_at`,`uuid`,`node`,`plan`,`up_bytes`,`down_bytes`,`node_group`);--> statement-breakpoint
ALTER TABLE `nodes` ADD `down_since` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `up_once` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `node_group` text;--> statement-breakpoint
ALTER TABLE `gift_codes` ADD `node_group` text;--> statement-breakpoint
ALTER TABLE `plans` ADD `node_group` text;