CREATE TABLE "list_templates" (
	"format" text PRIMARY KEY NOT NULL,
	"body" text collate "C" NOT NULL,
	"updated_at" text collate "C" NOT NULL
);
