CREATE TABLE `instance` (
	`id` integer PRIMARY KEY NOT NULL,
	`instance_id` text,
	`generation` text,
	`payments_generation` text,
	`pending_env` text,
	`backup_key` text
);
--> statement-breakpoint
CREATE TABLE `add_only_nodes` (
	`code` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `former_credentials` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider` text NOT NULL,
	`shop_id` text NOT NULL,
	`secret` text NOT NULL,
	`preset` text,
	`api_url` text,
	`replaced_at` text NOT NULL
);
--> statement-breakpoint
INSERT INTO `instance` (`id`, `instance_id`, `generation`, `payments_generation`, `pending_env`, `backup_key`) SELECT 1,
  max(iif(`key` = 'INSTANCE_ID' AND octet_length(`value`) BETWEEN 1 AND 64 AND `value` NOT GLOB '*[^a-zA-Z0-9-]*', `value`, NULL)),
  max(iif(`key` = 'ENV_GENERATION' AND octet_length(`value`) BETWEEN 1 AND 64 AND `value` NOT GLOB '*[^a-zA-Z0-9_-]*', `value`, NULL)),
  max(iif(`key` = 'PAYMENTS_GENERATION' AND octet_length(`value`) BETWEEN 1 AND 64 AND `value` NOT GLOB '*[^a-zA-Z0-9_-]*', `value`, NULL)),
  max(iif(`key` = 'PENDING_ENV', `value`, NULL)), max(iif(`key` = 'BACKUP_KEY', `value`, NULL)) FROM `settings`;
--> statement-breakpoint
INSERT INTO `add_only_nodes` SELECT DISTINCT c.`value` FROM (SELECT '["' || replace(`value`, ' ', '","') || '"]' AS `words` FROM `settings` WHERE `key` = 'ADD_ONLY_NODES') AS s,
  json_each(iif(json_valid(s.`words`), s.`words`, '[]')) AS c
  WHERE c.`key` > 0 AND octet_length(c.`value`) BETWEEN 1 AND 32 AND c.`value` NOT GLOB '*[^a-zA-Z0-9_-]*';
--> statement-breakpoint
INSERT INTO `former_credentials` (`provider`, `shop_id`, `secret`, `preset`, `api_url`, `replaced_at`)
  SELECT o ->> 'provider', o ->> 'shopId', o ->> 'secret', o ->> 'preset', o ->> 'apiUrl', strftime('%Y-%m-%dT%H:%M:%S', o ->> 'until', '-30 days')
  FROM (SELECT c.`key` AS n, iif(c.`type` = 'object', c.`value`, '{}') AS o
    FROM (SELECT iif(json_valid(`value`), `value`, '[]') AS list FROM `settings` WHERE `key` = 'PREVIOUS_CREDENTIALS') AS s,
    json_each(iif(json_type(s.list) = 'array', s.list, '[]')) AS c)
  WHERE json_type(o, '$.provider') = 'text' AND json_type(o, '$.shopId') = 'text' AND json_type(o, '$.secret') = 'text'
    AND coalesce(json_type(o, '$.preset'), 'text') = 'text' AND coalesce(json_type(o, '$.apiUrl'), 'text') = 'text'
    AND o ->> 'until' GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]'
    AND strftime('%Y-%m-%dT%H:%M:%S', o ->> 'until', '-30 days') GLOB '[0-9]*' ORDER BY n;
--> statement-breakpoint
DELETE FROM `settings` WHERE `key` IN ('INSTANCE_ID', 'ENV_GENERATION', 'PAYMENTS_GENERATION', 'PENDING_ENV', 'BACKUP_KEY', 'ADD_ONLY_NODES', 'PREVIOUS_CREDENTIALS');
