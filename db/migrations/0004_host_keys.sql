DROP TABLE `retired_nodes`;--> statement-breakpoint
CREATE TABLE `retired_nodes` (
	`code` text NOT NULL,
	`address` text NOT NULL,
	`ssh_port` integer NOT NULL,
	`ssh_user` text,
	`host_key` text,
	`tries` integer DEFAULT 0 NOT NULL,
	`next_try_at` text NOT NULL,
	`last_error` text,
	`created_at` text NOT NULL,
	PRIMARY KEY(`address`, `ssh_port`)
);
--> statement-breakpoint
ALTER TABLE `nodes` ADD `provisioning` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `presented_host_key` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `behind` integer DEFAULT 0 NOT NULL;