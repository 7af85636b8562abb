INSERT INTO datasets (id, name, description, notes, source, version_hash, schema, section_count, item_count, asset_count, created_at, updated_at) VALUES
  ('76c08a0a-a12b-4bb6-b90a-96e35f071f86', 'Upgraded', 'd', NULL, 'pkg_zip', '33985e7d761753adb1dc63e5818f152e42d026347cf709bc9e2d0e435551cea1', '{"package":{"manifest":{"name":"Upgraded","version":1},"meta":{"description":"d","n":12345678901234567890}},"source":"pkg_zip"}', '3', '7', '2', '2026-01-01 03:41:04.635+00', '2026-01-01 03:41:04.635+00'),
  ('9af37a18-d530-4ec1-9ef9-50693fbac168', 'By a job', NULL, NULL, 'pkg_zip', 'c218f4b5a9d7473ed59147d861e9f050d973eb3ff22dc571f11d630b3562bbd5', '{"package":{"manifest":null,"meta":null},"source":"pkg_zip"}', '1', '1', '0', '2026-01-01 03:41:04.994+00', '2026-01-01 03:41:04.994+00');

INSERT INTO sections (id, dataset_id, name, order_index, item_count, section_hash, file_bytes, file_sha256) VALUES
  ('ab959a6d-0cda-4f0f-8f21-2ee9c8e9d090', '76c08a0a-a12b-4bb6-b90a-96e35f071f86', 'a', '0', '5', E'\\xb42652b519c8016c4eac63b3b1776090971a2cc70073a0dd7d3c98727e9628b7', NULL, NULL),
  ('1a82a053-cda7-4fe6-aeee-0a58b933b798', '76c08a0a-a12b-4bb6-b90a-96e35f071f86', 'b', '1', '0', E'\\x51559b0b9f6b10a60d14071353421a66c9f561a9e7649ad2cc21c780274910ad', '0', E'\\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'),
  ('83be8403-0496-4295-8f08-58fd8c663c34', '76c08a0a-a12b-4bb6-b90a-96e35f071f86', 'ü', '2', '2', E'\\xf507b364e26893cba565ed8988df71dffee6289db7a58ffc7f1c08c971bbc7fe', '12', E'\\x061738c3a8820bd354fb19de8a15e8e58264d39984daf487b356dbec5edf52b2'),
  ('e554bd8b-97f0-449f-be92-c24e948bd28d', '9af37a18-d530-4ec1-9ef9-50693fbac168', 'x', '0', '1', E'\\x1518817dd04f451b7ec00fe1f03056fe36062f35be7a4608acd38fe2ffc5cb14', '3', E'\\xca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356');

INSERT INTO items (section_id, order_index, item_hash, type, payload, answer, checker, assets) VALUES
  ('83be8403-0496-4295-8f08-58fd8c663c34', '0', E'\\x44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 'freeform', '{}', NULL, NULL, NULL),
  ('83be8403-0496-4295-8f08-58fd8c663c34', '1', E'\\x037c9214eef74cc3887f3a4f085b4e17d76280dafd273b0ee160c09c4ba1cfd4', 'freeform', '{"id":1}', NULL, NULL, NULL),
  ('ab959a6d-0cda-4f0f-8f21-2ee9c8e9d090', '0', E'\\xca4af3beaf2efcee5ad38ad62c4116ffb2f06f17cb83ae4dc0f2c97921ad3ea9', 'exact', '{"id":"exact","inputs":{"prompt":"1+1?"},"tags":["sum"],"type":"exact"}', '2', NULL, NULL),
  ('ab959a6d-0cda-4f0f-8f21-2ee9c8e9d090', '1', E'\\x24a623641602fe4b0fa2fa0965038df9f899674dae44206fdbb574c262c95860', 'freeform', E'{"id":12345678901234567890,"inputs":{"prompt":"a \\" b \\\\ \\u0000 \\ud800   ü 😀"},"meta":{"n":10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000,"z":0}}', '0.12345678901234567890123', NULL, NULL),
  ('ab959a6d-0cda-4f0f-8f21-2ee9c8e9d090', '2', E'\\xddac08dcc0f749ee3810cb5dc42ab6463fb58bf99bbd76fe5207ecfe890793a8', 'multiple_choice', '{"inputs":{"choices":["a","b"],"messages":[{"content":"hi","role":"user"}]},"type":"multiple_choice"}', 'null', NULL, NULL),
  ('ab959a6d-0cda-4f0f-8f21-2ee9c8e9d090', '3', E'\\xfa3a2a7efdacd4ff89b34478b6acd86246dcc41917a930fe3fef880a891a1a40', 'freeform', '{"__proto__":{"x":1}}', '{"a":"text","b":[1,{"a":null}]}', '{"pattern":"^a$","type":"regex"}', NULL),
  ('ab959a6d-0cda-4f0f-8f21-2ee9c8e9d090', '4', E'\\x706f9df55b868ff3e4b68d28a80c896a9ec230f7f479d2c80d705dfb84a2cd24', 'freeform', '{"inputs":{"prompt":"see"}}', NULL, NULL, '{"link":{"url":"https://example.org/x.png"},"picture":{"data":"iVBORw0KGgo=","encoding":"base64","mime_type":"image/png"}}'),
  ('e554bd8b-97f0-449f-be92-c24e948bd28d', '0', E'\\x44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 'freeform', '{}', NULL, NULL, NULL);

INSERT INTO runs (id, dataset_id, dataset_version_hash, name, status, config, repetitions, total, ok, failed, unscored, scored, score_sum, passed, error, request_id, attempt, created_at, started_at, finished_at, cancel_requested_at) VALUES
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '76c08a0a-a12b-4bb6-b90a-96e35f071f86', '33985e7d761753adb1dc63e5818f152e42d026347cf709bc9e2d0e435551cea1', 'r', 'completed', '{"concurrency":8,"max_retries":5,"provider":{"pointer":"/answer","type":"item_field"},"repetitions":2,"timeout_ms":120000}', '2', '14', '4', '6', '4', '4', '2', '2', NULL, '16ebb5c856904adc9794550b38910a7e', '1', '2026-01-01 03:41:04.727+00', '2026-01-01 03:41:04.849+00', '2026-01-01 03:41:04.874+00', NULL);

INSERT INTO run_results (run_id, section_order_index, order_index, repetition, section, item_id, status, output, score, passed, explanation, error, latency_ms, usage, created_at) VALUES
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '0', '1', 'a', '"exact"', 'ok', '2', '1', 'true', NULL, NULL, '0.06497600000011516', NULL, '2026-01-01 03:41:04.867+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '0', '2', 'a', '"exact"', 'ok', '2', '1', 'true', NULL, NULL, '2.434635999999955', NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '1', '1', 'a', '12345678901234567890', 'unscored', '0.12345678901234567890123', NULL, NULL, '"The item has no checker"', NULL, '0.023815000000013242', NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '1', '2', 'a', '12345678901234567890', 'unscored', '0.12345678901234567890123', NULL, NULL, '"The item has no checker"', NULL, '0.1455060000002959', NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '2', '1', 'a', NULL, 'unscored', NULL, NULL, NULL, '"The item has no answer to compare with"', NULL, '0.010997000000315893', NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '2', '2', 'a', NULL, 'unscored', NULL, NULL, NULL, '"The item has no answer to compare with"', NULL, '0.1186160000002019', NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '3', '1', 'a', NULL, 'ok', '{"a":"text","b":[1,{"a":null}]}', '0', 'false', NULL, NULL, '0.007601000000249769', NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '3', '2', 'a', NULL, 'ok', '{"a":"text","b":[1,{"a":null}]}', '0', 'false', NULL, NULL, '0.11812499999996362', NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '4', '1', 'a', NULL, 'failed', NULL, NULL, NULL, NULL, E'{"code":"field_missing","message":"The item has nothing at \\"/answer\\""}', NULL, NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '0', '4', '2', 'a', NULL, 'failed', NULL, NULL, NULL, NULL, E'{"code":"field_missing","message":"The item has nothing at \\"/answer\\""}', NULL, NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '2', '0', '1', 'ü', NULL, 'failed', NULL, NULL, NULL, NULL, E'{"code":"field_missing","message":"The item has nothing at \\"/answer\\""}', NULL, NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '2', '0', '2', 'ü', NULL, 'failed', NULL, NULL, NULL, NULL, E'{"code":"field_missing","message":"The item has nothing at \\"/answer\\""}', NULL, NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '2', '1', '1', 'ü', '1', 'failed', NULL, NULL, NULL, NULL, E'{"code":"field_missing","message":"The item has nothing at \\"/answer\\""}', NULL, NULL, '2026-01-01 03:41:04.87+00'),
  ('c4258a13-e582-4dbc-9126-7ec032e065f3', '2', '1', '2', 'ü', '1', 'failed', NULL, NULL, NULL, NULL, E'{"code":"field_missing","message":"The item has nothing at \\"/answer\\""}', NULL, NULL, '2026-01-01 03:41:04.87+00');

INSERT INTO jobs (id, kind, status, request, sealed_token, rows_done, rows_total, bytes_done, bytes_total, dataset_id, error, request_id, attempt, created_at, started_at, finished_at, cancel_requested_at) VALUES
  ('9f57beec-af27-412a-a0a4-0bf3ab0414ae', 'upload', 'succeeded', '{"archive_bytes":228,"chunk_bytes":1048576,"description":null,"file_name":"sample.pkg.zip","name":"By a job"}', NULL, '1', '1', '228', '228', '9af37a18-d530-4ec1-9ef9-50693fbac168', NULL, 'bcc1aba5a3034a7983f35895f7bfdb4f', '1', '2026-01-01 03:41:04.97+00', '2026-01-01 03:41:04.981+00', '2026-01-01 03:41:04.995+00', NULL);

INSERT INTO settings (key, value, updated_at) VALUES
  ('cancellation_check_interval_ms', '777', '2026-01-01 03:41:04.957+00');
