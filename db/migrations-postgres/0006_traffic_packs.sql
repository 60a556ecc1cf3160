CREATE TABLE "traffic_packs" (
	"code" text collate "C" PRIMARY KEY NOT NULL,
	"label" text collate "C" NOT NULL,
	"gb" bigint NOT NULL,
	"price" bigint NOT NULL,
	"price_stars" bigint,
	"sort_order" bigint NOT NULL,
	"archived" smallint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "kind" text DEFAULT 'access' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "pack" text collate "C";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "extra_bytes" bigint;--> statement-breakpoint
CREATE INDEX "payments_pack" ON "payments" USING btree ("pack") WHERE pack is not null;