ALTER TABLE "node_groups" ADD COLUMN "routing_preset" text collate "C";--> statement-breakpoint
ALTER TABLE "node_groups" ADD COLUMN "routing_ads" smallint;