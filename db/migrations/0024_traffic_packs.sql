CREATE TABLE `traffic_packs` (
	`code` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`gb` integer NOT NULL,
	`price` integer NOT NULL,
	`price_stars` integer,
	`sort_order` integer NOT NULL,
	`archived` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
ALTER TABLE `payments` ADD `kind` text DEFAULT 'access' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `pack` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `extra_bytes` integer;--> statement-breakpoint
CREATE INDEX `payments_pack` ON `payments` (`pack`) WHERE pack is not null;