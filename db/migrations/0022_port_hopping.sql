ALTER TABLE `nodes` ADD `hysteria_hop` text;--> statement-breakpoint
ALTER TABLE `nodes` ADD `hysteria_hopping` integer DEFAULT false NOT NULL;