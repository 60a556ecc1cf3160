ALTER TABLE "ending_counts" DROP CONSTRAINT "ending_counts_day_node_plan_pk";--> statement-breakpoint
ALTER TABLE "tallies" DROP CONSTRAINT "tallies_name_slot_pk";--> statement-breakpoint
CREATE INDEX "ending_counts_key" ON "ending_counts" USING btree ("day","node","plan");--> statement-breakpoint
CREATE INDEX "tallies_key" ON "tallies" USING btree ("name","slot");--> statement-breakpoint
-- Rows without a key can go to a subscriber of logical replication, too.
ALTER TABLE "ending_counts" REPLICA IDENTITY FULL;--> statement-breakpoint
ALTER TABLE "tallies" REPLICA IDENTITY FULL;
