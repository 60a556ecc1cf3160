CREATE TABLE `installation` (
	`id` integer PRIMARY KEY NOT NULL,
	`secret` text NOT NULL
);
--> statement-breakpoint
INSERT INTO `installation` (`id`, `secret`) VALUES (1, lower(hex(randomblob(32))));
