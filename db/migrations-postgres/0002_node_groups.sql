CREATE TABLE "node_group_nodes" (
	"group_code" text collate "C" NOT NULL,
	"node" text collate "C" NOT NULL,
	CONSTRAINT "node_group_nodes_group_code_node_pk" PRIMARY KEY("group_code","node")
);
--> statement-breakpoint
CREATE TABLE "node_groups" (
	"code" text collate "C" PRIMARY KEY NOT NULL,
	"label" text collate "C" NOT NULL,
	"sort_order" bigint NOT NULL,
	"hide_down" smallint DEFAULT 0 NOT NULL,
	"created_at" text collate "C" NOT NULL
);
--> statement-breakpoint
DROP INDEX "subscriptions_list";--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "down_since" text collate "C";--> statement-breakpoint
ALTER TABLE "nodes" ADD COLUMN "up_once" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "node_group" text collate "C";--> statement-breakpoint
ALTER TABLE "gift_codes" ADD COLUMN "node_group" text collate "C";--> statement-breakpoint
ALTER TABLE "plans" ADD COLUMN "node_group" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "node_group" text collate "C";--> statement-breakpoint
CREATE INDEX "node_group_nodes_node" ON "node_group_nodes" USING btree ("node","group_code");--> statement-breakpoint
CREATE INDEX "subscriptions_group_clients" ON "subscriptions" USING btree ("node_group","uuid","expires_at","tg_id","node") WHERE active = 1 and held_at is null and node_group is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_group" ON "subscriptions" USING btree ("node_group","created_at") WHERE node_group is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_list" ON "subscriptions" USING btree ("tg_id","created_at","active","held_at","expires_at","uuid","node","plan","up_bytes","down_bytes","node_group");