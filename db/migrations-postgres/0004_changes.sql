CREATE TABLE "list_templates" (
	"format" text PRIMARY KEY NOT NULL,
	"body" text collate "C" NOT NULL,
	"updated_at" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "node_live" (
	"node" text collate "C" PRIMARY KEY NOT NULL,
	"at" text collate "C" NOT NULL,
	"online" bigint NOT NULL,
	"up_rate" bigint,
	"down_rate" bigint,
	"up_bytes" bigint NOT NULL,
	"down_bytes" bigint NOT NULL,
	"rx_bytes" bigint,
	"tx_bytes" bigint,
	"host_json" text collate "C",
	"core_uptime_s" bigint,
	"spark_json" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "node_uptime" (
	"node" text collate "C" NOT NULL,
	"day" text collate "C" NOT NULL,
	"ok" bigint DEFAULT 0 NOT NULL,
	"bad" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "node_uptime_node_day_pk" PRIMARY KEY("node","day")
);
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "given_seconds" bigint;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "last_online_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "node_changed_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "plan_changed_at" text collate "C";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "day_worth" bigint;--> statement-breakpoint
CREATE INDEX "node_uptime_day" ON "node_uptime" USING btree ("day");--> statement-breakpoint
CREATE INDEX "subscriptions_online" ON "subscriptions" USING btree ("last_online_at","tg_id") WHERE last_online_at is not null;