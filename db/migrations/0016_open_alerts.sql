CREATE TABLE `open_alerts` (
	`name` text PRIMARY KEY NOT NULL
);--> statement-breakpoint
INSERT OR IGNORE INTO `open_alerts` SELECT n.`value` FROM (SELECT '["' || replace(`value`, ' ', '","') || '"]' AS `names` FROM `settings` WHERE `key` = 'OPEN_ALERTS') AS s, json_each(iif(json_valid(s.`names`), s.`names`, '[]')) AS n WHERE octet_length(n.`value`) BETWEEN 1 AND 64 AND n.`value` NOT GLOB '*[^a-zA-Z0-9:_-]*';--> statement-breakpoint
DELETE FROM `settings` WHERE `key` = 'OPEN_ALERTS';
