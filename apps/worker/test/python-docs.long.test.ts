import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from './start-test-service.ts';

const GENERATOR = fileURLToPath(
  new URL('../../../packages/client/node_modules/.bin/openapi-generator', import.meta.url),
);
const PAGE = await readFile(new URL('../../../docs/python.md', import.meta.url), 'utf8');

/** Programs of the page by their headings. */
const PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((part) => [
      part.slice(0, part.indexOf('\n')),
      [...part.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, program]) => String(program)),
    ]),
);

function programOf(heading: string): string {
  const [program] = PROGRAMS.get(heading) ?? [];
  if (program === undefined) throw new Error(`docs/python.md has no program under ${heading}`);
  return program;
}

/** What this machine lacks of these libraries of Python; undefined if nothing. */
function missing(...libraries: readonly string[]): string | undefined {
  const absent = libraries.filter((library) => {
    try {
      execFileSync('python3', ['-c', `import ${library}`], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
  return absent.length === 0 ? undefined : `Python without ${absent.join(', ')}`;
}

function withoutJava(): string | undefined {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no Java';
  }
}

const WITH_REQUESTS = ['Upload and wait', 'Read items', 'Run and read results'];

/** Imports every module of a generated client, and lets it count the operations that it calls. */
const COUNT_CALLS = `
import importlib, pkgutil, svc_client
modules = list(pkgutil.walk_packages(svc_client.__path__, "svc_client."))
for module in modules: importlib.import_module(module.name)
called = set()
call_api = svc_client.ApiClient.call_api
def counted(client, path, method, *rest, **options):
    called.add((method, path))
    return call_api(client, path, method, *rest, **options)
svc_client.ApiClient.call_api = counted
`;

/** Calls the operations that the program of the page does not. */
const EVERY_OPERATION = `
hub, jobs, settings = svc_client.HubApi(client), svc_client.JobsApi(client), svc_client.SettingsApi(client)
session, operation = svc_client.SessionApi(client), svc_client.OperationApi(client)
documentation = svc_client.DocumentationApi(client)

def refused(code, call):
    try:
        call()
    except svc_client.ApiException as error:
        assert json.loads(error.body)["code"] == code, error.body
    else:
        raise AssertionError(code)

datasets, runs = svc_client.DatasetsApi(client), svc_client.RunsApi(client)
job = datasets.upload_dataset(file="sums.pkg.zip", name="Job", prefer="respond-async", idempotency_key="one-upload")
assert job["status"] == "queued", job
while jobs.get_job(job["id"]).finished_at is None:
    time.sleep(0.1)
assert [found.id for found in jobs.list_jobs(limit=1).data] == [job["id"]]
assert jobs.cancel_job(job["id"]).error is None
assert "event: end" in jobs.watch_job(job["id"])
dataset = datasets.get_dataset(jobs.get_job(job["id"]).dataset_id)
with open("table.csv", "w") as table:
    table.write("q,a\\n1+1?,2\\n")
mapping = json.dumps({"prompt_column": "q", "answer_column": "a"})
assert datasets.preview_upload(file="table.csv").kind == "table"
assert datasets.check_upload(file="table.csv", mapping=mapping).item_count == 1
table = datasets.upload_dataset(file="table.csv", mapping=mapping)
with open("more.jsonl", "w") as more:
    more.write('{"inputs": {"prompt": "1"}}\\n')
both = datasets.upload_dataset(file=["more.jsonl", "more2.jsonl"], name="Two")
assert both["section_count"] == 2, both
assert datasets.list_datasets(limit=2).meta.limit == 2
assert datasets.list_sections(table["id"]).data[0].item_count == 1
assert datasets.update_dataset(table["id"], {"notes": "a table"}).notes == "a table"
assert datasets.diff_datasets(table["id"], dataset.id).counts.removed == 1
changed = datasets.change_items(table["id"], mode="append", file="more.jsonl")
assert datasets.check_change(table["id"], mode="append", file="more.jsonl").change.added == 1
assert changed["version"] == 2 and changed["change"]["added"] == 1, changed
edit = {"item_hash": datasets.list_items(table["id"]).data[0].item_hash, "remove": True}
assert datasets.check_edit(table["id"], {"edits": [edit]}).change.removed == 1
edited = datasets.edit_items(table["id"], {"edits": [edit], "message": "one less"})
assert edited.version == 3, edited
assert [found.version for found in datasets.list_versions(table["id"], limit=2).data] == [3, 2]
assert datasets.restore_version(table["id"], {"version": 1}).version == 4
datasets.delete_version(table["id"], 2)
assert datasets.stream_items(dataset.id).count("\\n") == 2
assert datasets.download_items_csv(dataset.id).startswith("section,")
for download in (datasets.export_dataset, datasets.download_items_parquet):
    assert os.path.getsize(download(dataset.id)) > 100
refused("not_found", lambda: datasets.get_asset(dataset.id, "0" * 64))
serving, repo = svc_client.HubServingApi(client), dataset.id
assert serving.get_hub_caller()["type"] == "user"
assert f"svc/{repo}" in [found["id"] for found in serving.list_hub_datasets()]
commit = serving.get_hub_dataset(repo)["sha"]
assert commit == dataset.version_hash[:40] == serving.get_hub_dataset_revision(repo, "v1")["sha"]
assert [entry.path for entry in serving.list_hub_files(repo, "main")] == ["README.md", "data", "eval.yaml", "items"]
[lines] = serving.list_hub_folder(repo, commit, "items")
assert serving.find_hub_files(repo, commit, {"paths": [lines.path, "nothing"]})[0].size == lines.size
assert os.path.getsize(serving.download_hub_file(repo, commit, lines.path)) == lines.size
assert serving.list_hub_refs(repo)["tags"][0]["name"] == "v1"
assert serving.list_hub_commits(repo, "main")[0]["id"] == commit
datasets.delete_dataset(table["id"])
source = {"path": "owner/name"}
assert hub.find_hub_datasets(q="name").data == []
assert hub.preview_hub_dataset(source).features[0].name == "question"
request = {"name": "Hub", "config": source, "mapping": {"prompt_column": "question"}}
assert hub.check_hub_import(request).errors_total == 0
assert hub.import_hub_dataset(request)["item_count"] == 10
refused("column_not_found", lambda: hub.check_hub_import({**request, "mapping": {"prompt_column": "q"}}))
echo = {"dataset_id": dataset.id, "config": {"provider": {"type": "echo"}, "checker": "includes"}}
tried = runs.try_run(echo, items=1).data[0]
assert tried.request is None and tried.output.endswith("?"), tried
first, second = [runs.create_run(echo).id for _ in range(2)]
for run in (first, second):
    while runs.get_run(run).finished_at is None:
        time.sleep(0.1)
assert {run.id for run in runs.list_runs(limit=2).data} == {first, second}
assert runs.get_run(first).config.provider == {"type": "echo"}
assert runs.update_run(first, {"name": "First"}).name == "First"
assert runs.compare_runs(first, second).paired == 2
assert runs.compare_run_slices(first, second, by="/type").data[0].paired == 2
assert runs.slice_run(first, by=["/type"]).data[0].results == 2
assert runs.list_run_errors(first).data == []
assert runs.list_providers().data == []
section = runs.list_run_results(first).data[0].section
labelled = runs.label_result(first, section, "0", "1", {"verdict": "fail", "note": "no number", "types": ["form"]})
assert (labelled.verdict, labelled.types) == ("fail", ["form"]), labelled
assert runs.list_run_labels(first, type="form").summary.people[0].by == labelled.by
assert [found.verdict for found in runs.list_run_results(second, label="fail").data[0].labels] == ["fail"]
assert runs.get_run_agreement(first).n == 1
assert runs.download_labels_csv(first).startswith("section,")
refused("not_found", lambda: runs.get_result_request(first, section, "0", "1"))
rescored = runs.rescore_run(first, {"checker": {"type": "exact_match"}})
assert rescored.source_run_id == first
while runs.get_run(rescored.id).finished_at is None:
    time.sleep(0.1)
assert runs.list_run_results(first).data[0].output == "2 + 2?"
assert "event: end" in runs.watch_run(first)
refused("nothing_to_retry", lambda: runs.retry_run(first, {"only": "failed"}))
refused("run_finished", lambda: runs.cancel_run(first))
assert runs.download_results_jsonl(first).count("\\n") == 2
assert runs.download_results_csv(first).startswith("section,")
assert os.path.getsize(runs.download_results_parquet(first)) > 100
assert os.path.getsize(runs.export_run(first)) > 100
runs.delete_run(second)
outside = runs.create_run({"dataset_id": dataset.id, "config": {"provider": {"type": "external", "label": "a test"}}}).id
assert runs.list_pending_results(outside).count("\\n") == 2
claimed = json.loads(runs.claim_pending_results(outside, {"limit": 2}).split("\\n")[0])
pushed = runs.push_results(outside, {**claimed, "output": "4"})
assert (pushed.accepted, pushed.rejected_total) == (1, 0), pushed
refused("run_incomplete", lambda: runs.finish_run(outside, {}))
assert runs.finish_run(outside, {"allow_missing": True}).status == "completed"
scored = {"item_hash": claimed["item_hash"], "scores": {"human": {"score": 1}}}
assert runs.push_scores(outside, scored).accepted == 1
assert settings.update_settings({"cancellation_check_interval_ms": 1000}).cancellation_check_interval_ms == 1000
assert settings.get_settings().cancellation_check_interval_ms == 1000
assert operation.get_status().database.bytes > 0
assert operation.list_audit(limit=1).data[0].object.kind == "settings"
assert "settings" in operation.download_audit_csv() and "settings" in operation.download_audit_jsonl()
assert settings.send_onboarding_telemetry({
    "consent": True, "lifecycle": "started", "route": "/", "time_zone": "Europe/Vienna", "tutorial_version": 1,
    "anonymous_session_id": "0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d",
}).accepted is True
assert session.get_session().role == "admin"
session.create_session({"key": "a-key-of-an-editor"})
session.end_session()
assert operation.get_health().status == "ok"
assert operation.get_readiness().status == "ok"
assert "svc_" in operation.get_metrics()
assert documentation.get_open_api()["openapi"] == "3.1.0"
assert "html" in documentation.get_docs() and documentation.get_docs_file("swagger-ui.css")
assert documentation.get_root()["name"] == "svc"
# the pages of the console are there where it is built
paths = {path: found for path, found in documentation.get_open_api()["paths"].items() if not path.startswith("/console")}
print("not called:", {(method.upper(), path) for path in paths for method in paths[path]} - called)
`;

const cleanUp = new AsyncDisposableStack();
afterAll(() => cleanUp.disposeAsync());

/** The folder of a generated client. */
async function generateClient(document: Uint8Array, converter: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-python-client-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'openapi.json'), document);
  await writeFile(join(folder, 'to_openapi_30.py'), converter);
  const older = execFileSync('python3', ['to_openapi_30.py'], { cwd: folder, input: document });
  await writeFile(join(folder, 'openapi-3.0.json'), older);
  const output = join(folder, 'svc-client');
  await mkdir(output);
  const options = ['-g', 'python', '-i', 'openapi-3.0.json', '-o', 'svc-client'];
  await promisify(execFile)(GENERATOR, ['generate', ...options, '--package-name', 'svc_client'], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  });
  return folder;
}

describe.each([
  { keys: 'a key', env: { SVC_API_KEYS: 'admin:a-key-of-an-editor' }, key: 'a-key-of-an-editor' },
  { keys: 'no key', env: {}, key: undefined },
])('a service with $keys', ({ env, key }) => {
  let service: TestService;
  let folder: string;
  beforeAll(async () => {
    service = await startTestService({ env });
    folder = await mkdtemp(join(tmpdir(), 'svc-python-'));
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** Lines that a program prints. */
  async function run(name: string, program: string, path = ''): Promise<readonly string[]> {
    await writeFile(join(folder, name), program);
    const { stdout } = await promisify(execFile)('python3', [name], {
      cwd: folder,
      env: {
        PATH: String(process.env['PATH']),
        SVC_API_URL: service.url,
        ...(key === undefined ? {} : { SVC_API_KEY: key }),
        NO_PROXY: '127.0.0.1',
        HF_HOME: join(folder, 'hub'),
        HF_HUB_OFFLINE: '1',
        PYTHONPATH: path,
      },
    });
    return stdout.split('\n');
  }

  it('the programs with requests do what the page says, as they stand', async ({ skip }) => {
    const lack = missing('requests');
    if (lack !== undefined) skip(lack);
    expect(await run('requests.program.py', WITH_REQUESTS.map(programOf).join('\n'))).toEqual([
      'Sums 2',
      '12345678901234567890 2 + 2? 4',
      '2 10 / 81? 0.12345679012345679012345',
      '12345678901234567890 ok It is 4. 1',
      '2 ok 0.12 0',
      'completed 2 score 0.5',
      '',
    ]);
  });

  it.for([
    { heading: 'With httpx', libraries: ['httpx'], printed: ["first prompts: ['2 + 2?', '10 / 81?']"] },
    { heading: 'Tables', libraries: ['pandas'], printed: [expect.stringMatching(/2 \+ 2\? It is 4\.$/)] },
    { heading: 'The `datasets` library', libraries: ['datasets'], printed: ['2 rows'] },
  ])('the program under "$heading" does what the page says', async (row, { skip }) => {
    const lack = missing('requests', ...row.libraries);
    if (lack !== undefined) skip(lack);
    const all = [...WITH_REQUESTS, row.heading].map(programOf).join('\n');
    expect(await run(`${row.libraries.join('-')}.program.py`, all)).toEqual(
      expect.arrayContaining(row.printed),
    );
  });

  // it sends the key with each call, or nothing
  it.runIf(key !== undefined)(
    'a client that OpenAPI Generator makes calls every operation',
    {
      timeout: 120_000,
    },
    async ({ skip }) => {
      const lack = missing('requests', 'urllib3', 'six', 'dateutil', 'certifi') ?? withoutJava();
      if (lack !== undefined) skip(lack);
      const [converter = '', program = ''] = PROGRAMS.get('Generate a client') ?? [];
      const document = await fetch(`${service.url}/openapi.json`).then((response) => response.bytes());
      const made = await generateClient(document, converter);
      expect(document).toEqual(new Uint8Array(await readFile(join(made, 'openapi.json'))));
      const output = join(made, 'svc-client');
      await run('first.py', programOf('Upload and wait'));
      expect(await run('generated.py', program, output)).toEqual([
        'Generated 2',
        'train 0 2 + 2?',
        'train 1 10 / 81?',
        'can be scored: 2',
        'completed score 0.5',
        '12345678901234567890 It is 4. 1.0',
        '2 0.12 0.0',
        '404 dataset_not_found',
        '',
      ]);
      await writeFile(join(folder, 'more2.jsonl'), '{"inputs":{"prompt":"2"}}\n');
      const lines = await run('operations.py', [COUNT_CALLS, program, EVERY_OPERATION].join('\n'), output);
      expect(lines.find((line) => line.startsWith('not called'))).toBe('not called: set()');
    },
  );
});
