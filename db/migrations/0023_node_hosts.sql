CREATE TABLE `node_hosts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`node` text NOT NULL,
	`transport` text NOT NULL,
	`label` text DEFAULT '' NOT NULL,
	`address` text NOT NULL,
	`port` integer,
	`sni` text DEFAULT '' NOT NULL,
	`host` text DEFAULT '' NOT NULL,
	`path` text DEFAULT '' NOT NULL,
	`fingerprint` text DEFAULT '' NOT NULL,
	`enabled` integer DEFAULT true NOT NULL,
	`sort_order` integer NOT NULL,
	`formats` text DEFAULT '[]' NOT NULL
);
