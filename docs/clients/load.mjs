// Loads records into Redis through Pipeset: streamed, and once only, whatever happens to the connection.
//
//     PIPESET_URL=http://localhost:8080 PIPESET_KEY=... node load.mjs 1000000 user:
//
// Needs Node 20.6 or later, and nothing else. It ends with 0 if all records ran, and else with 1: failed.ndjson then has
// the others, which can be posted again as they are.
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env.PIPESET_URL ?? 'http://localhost:8080'
const count = Number(process.argv[2] ?? 1_000_000)
const prefix = process.argv[3] ?? 'user:'
const authorization = process.env.PIPESET_KEY ? { Authorization: `Bearer ${process.env.PIPESET_KEY}` } : {}

// The records, a thousand lines at a time: each piece is made when the connection takes it.
function* pieces() {
  for (let i = 0; i < count; ) {
    let piece = ''
    for (const end = Math.min(i + 1000, count); i < end; i++) {
      piece += JSON.stringify({ op: 'HSET', key: prefix + i, fields: { name: `User ${i}` } }) + '\n'
    }
    yield Buffer.from(piece)
  }
}

// Sends a request again for as long as another attempt may have a better answer.
async function call(method, path, headers = {}, body = () => undefined) {
  for (let attempt = 0; attempt < 20; attempt++) {
    let pause = Math.min(0.2 * 2 ** attempt, 30)
    let trouble
    try {
      const answer = await fetch(url + path, {
        method, headers: { ...authorization, ...headers }, body: body(), duplex: 'half', signal: AbortSignal.timeout(600_000)
      })
      const json = await answer.json()
      const inUse = answer.status === 409 && json.type.endsWith(':idempotency-key-in-use')
      const replayed = answer.headers.has('Idempotency-Replayed')
      if (replayed || !(answer.status === 429 || answer.status === 503 || inUse)) {
        return { status: answer.status, headers: answer.headers, replayed, json }
      }
      pause = Math.max(pause, Number(answer.headers.get('Retry-After')))
      trouble = json.detail
    } catch (lost) {
      trouble = lost.cause ?? lost
    }
    console.error(`Once more in ${pause} s: ${trouble}`)
    await sleep(pause * 1000)
  }
  throw new Error('Gave up')
}

// With the same key the records run once, however often they are sent. 202: all of them were accepted.
// interrupted: those of an earlier attempt were, and the process that had them has died.
async function upload() {
  const answer = await call('POST', '/v1/jobs',
    { 'Content-Type': 'application/x-ndjson', Prefer: 'respond-async', 'Idempotency-Key': randomUUID() },
    () => ReadableStream.from(pieces()))
  const accepted = answer.status === 202 || answer.replayed || answer.json.type.endsWith(':interrupted')
  const job = answer.headers.get('Location')
  if (!accepted || !job) throw new Error(answer.json.detail)
  return job
}

// Waits for the end of the job, and has it go on if its process has died.
async function follow(job) {
  for (;;) {
    const answer = await call('GET', job)
    if (answer.status !== 200) throw new Error(answer.json.detail)
    if (answer.json.state === 'interrupted') {
      const resumed = await call('POST', `${job}/resume`)
      if (resumed.status !== 202) throw new Error(resumed.json.detail)
    } else if (!['queued', 'running'].includes(answer.json.state)) {
      return answer.json
    }
    await sleep(Number(answer.headers.get('Retry-After')) * 1000)
  }
}

const job = await upload()
const report = await follow(job)
console.log(report.state, JSON.stringify(report.counts))
if (report.errors) {
  const items = await fetch(`${url}${job}/items`, { headers: authorization })
  if (!items.ok) throw new Error((await items.json()).detail)
  await writeFile('failed.ndjson', items.body)
  console.error(`${url}${job}: what did not run is in failed.ndjson`)
  process.exitCode = 1
}
