// Receives the callbacks of jobs, and verifies their signatures.
//
//     PIPESET_CALLBACK_SECRET=whsec_... node receive.mjs 8081
//
// Needs Node 18 or later, and nothing else. It prints the state and the counts of each job that has ended.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = Buffer.from(process.env.PIPESET_CALLBACK_SECRET.replace(/^whsec_/, ''), 'base64')

// Whether the secret signed the body within the last five minutes, so that nobody can send an old one again.
function isSigned(headers, body) {
  const sent = headers['webhook-timestamp'] ?? ''
  if (!/^\d+$/.test(sent) || Math.abs(Date.now() / 1000 - Number(sent)) > 300) return false
  const hmac = createHmac('sha256', secret).update(`${headers['webhook-id']}.${sent}.`).update(body)
  const expected = Buffer.from(`v1,${hmac.digest('base64')}`)
  return (headers['webhook-signature'] ?? '').split(' ').map((value) => Buffer.from(value))
    .some((value) => value.length === expected.length && timingSafeEqual(value, expected))
}

createServer(async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  const body = Buffer.concat(parts)
  const signed = isSigned(request.headers, body)
  if (signed) {
    // The same report may come twice, with the same webhook-id.
    const job = JSON.parse(body)
    console.log(request.headers['webhook-id'], job.state, JSON.stringify(job.counts))
  }
  response.writeHead(signed ? 204 : 401).end()
}).listen(Number(process.argv[2]), '127.0.0.1')
