ALTER TABLE "nodes" ADD COLUMN "hysteria_hop" text collate "C";--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "hysteria_hopping" smallint DEFAULT 0 NOT NULL;