// The settings of the API in words. The curl lines and the titles of the fields have the names of the API.

import { field, inputOf } from './page.js';

const LABELS = {
	args: 'Arguments', atomic: 'Transactions', batchSize: 'Records per batch', batchSizes: 'Records per batch', budget: 'Time budget',
	callback: 'Send the report to', coalesce: 'Merge neighbouring records', command: 'Command for each row', comment: 'Remarks begin with',
	concurrencies: 'Connections at once', concurrency: 'Connections at once', delimiter: 'Separator of cells', depth: 'Depth', dryRun: 'Dry run',
	encoding: 'Encoding of strings', escape: 'What a backslash means', exactlyOnce: 'Each record exactly once', estimate: 'Estimate the memory', expireAt: 'Expires at', fields: 'Fields',
	flush: 'Flush', flushes: 'Flush', format: 'Format', from: 'Where the records are', header: 'Column names', id: 'ID in the report', key: 'Key',
	label: 'Label of the job', limit: 'Records read at most', match: 'Keys', maxErrors: 'Rejected records at most', maxLatency: 'Latency for other clients at most',
	memory: 'Measure the memory', null: 'Text of a null cell', nulls: 'Empty cells and nulls', op: 'Operation', rateLimit: 'Records per second at most',
	records: 'Records per run', replace: 'Replace the keys like', replicas: 'Replicas that confirm', replicasTimeout: 'Timeout of replicas',
	results: 'Records in the report', retries: 'Lost connections at most', rows: 'Where rows are in JSON', runs: 'Runs of each row',
	samples: 'Elements measured per key', scanCount: 'Keys per SCAN', separator: 'Separator', source: 'Query', timeout: 'Timeout of replies',
	top: 'Largest keys listed', trim: 'Trim blanks of cells', ttl: 'Expires after', ttlJitter: 'Spread of expiry in percent', type: 'Type of the keys',
	url: 'URL', value: 'Value', valueBytes: 'Bytes per value', verify: 'Compare with Redis', zone: 'Time zone of timestamps',
};

/** Hints for settings whose description names other settings of the API. */
const HINTS = {
	batchSize: 'The most commands in one pipeline.',
	batchSizes: 'Several values, separated by commas.',
	callback: 'The service posts the report to this URL when the job has ended.',
	command: 'Instead of a mapping: the command of each row in the words of redis-cli.',
	concurrencies: 'Several values, separated by commas.',
	concurrency: 'The pipelines that run at once, each on its own connection.',
	estimate: 'Only for a dry run: estimates the memory that the records need in Redis, from a sample.',
	flushes: 'each, close or buffered:N; several values, separated by commas.',
};

/** The name of a setting for people. */
export function labelOf(name) {
	return Object.hasOwn(LABELS, name) ? LABELS[name] : name;
}

/** The values of settings in words. */
export function wordsOf(settings) {
	return Object.entries(settings).map(([name, value]) => `${labelOf(name)}: ${value}`).join(', ');
}

/** The input of a setting, with its label. */
export function settingField(row, { input = inputOf(row), label = labelOf(row.name), hint = HINTS[row.name] ?? row.meaning } = {}) {
	input.title = row.name;
	return field(row.name, label, input, hint);
}
