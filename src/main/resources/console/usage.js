// What the service has in use, and its limits, as bars and in words.

import { bar, bytes, count, h, number, percent } from './page.js';

const SLOTS = 16384;

/** The share of a limit from which a bar warns. */
const HIGH_SHARE = 0.9;
const CONTROL_STATES = { up: 'it answers', down: 'it does not answer, so instances cannot show the jobs of other instances', unused: 'not used yet' };

function share(used, max) {
	return !used ? '0 %' : used / max < 0.001 ? '< 0.1 %' : percent(Math.min(1, used / max));
}

function words(...parts) {
	return parts.filter((part) => part).join(', ');
}

function waiting(jobs, thing) {
	return jobs ? `${count(jobs, 'job')} ${jobs === 1 ? 'waits' : 'wait'} for ${thing}` : '';
}

function row(name, used, max, format, note) {
	const isBounded = max !== undefined;
	return h('div', { class: 'bar' }, h('dt', {}, name), h('dd', {}, isBounded ? bar(used, max, name, HIGH_SHARE * max) : h('span', { class: 'nobar' }),
			h('span', { class: 'number' }, format(used), isBounded ? h('span', { class: 'hint' }, ` of ${format(max)}`) : null), h('small', {}, words(isBounded ? share(used, max) : '', note))));
}

/** @param found the answer of Actuator */
export function usageRows({ jobsRunning, jobsWaiting, lanes, inFlightBytes, memory, spool, limits = {} }) {
	return [row('Running jobs', jobsRunning, limits.jobsRunning, number),
		row('Queued jobs', jobsWaiting, undefined, number, limits.jobsWaiting === undefined ? '' : `${number(limits.jobsWaiting)} callers may wait, in addition to asynchronous jobs`),
		row('Connections', lanes.busy, lanes.most, number, waiting(lanes.waiting, 'a connection')),
		row('Commands in flight', inFlightBytes, limits.inFlightBytes, bytes),
		row('Memory for jobs', memory.usedBytes, memory.budgetBytes, bytes, words(waiting(memory.waiting, 'memory'), `at most ${bytes(memory.jobBytes)} for one job`)),
		// An instance of the previous version reports neither limits nor the spool.
		...spool ? [row('Spool on disk', spool.usedBytes, spool.budgetBytes, bytes)] : []];
}

function isCluster(nodes) {
	return nodes.some(([, { slots }]) => slots !== undefined);
}

/** @param nodes the name of each server with its connections */
export function serversTable(nodes) {
	const slots = isCluster(nodes);
	const head = (title, kind) => h('th', { scope: 'col', class: kind }, title);
	return [h('thead', {}, h('tr', {}, head('Server'), slots ? head('Slots', 'number') : [], head('Busy'), head('Waiting', 'number'))),
		h('tbody', {}, nodes.map(([name, node]) => h('tr', {}, h('td', {}, h('code', {}, name)), slots ? h('td', { class: 'number' }, number(node.slots ?? 0)) : [],
				h('td', {}, h('div', { class: 'busy' }, bar(node.busy, node.most, name, HIGH_SHARE * node.most), h('span', {}, number(node.busy), h('span', { class: 'hint' }, ` of ${number(node.most)}`)))),
				h('td', { class: 'number' }, number(node.waiting)))))];
}

/** The text and the class of the note on slots. */
export function slotsWords(nodes) {
	if (!isCluster(nodes)) return { textContent: '', className: 'hint' };
	const served = nodes.reduce((sum, [, { slots = 0 }]) => sum + slots, 0);
	return (served === SLOTS) ? { textContent: `All ${number(SLOTS)} slots have a master.`, className: 'hint' }
		: { textContent: `${number(SLOTS - served)} of ${number(SLOTS)} slots have no master, so records for them are refused.`, className: served < SLOTS ? 'warning' : 'hint' };
}

export function controlWords({ address, state, bestEffort }) {
	return `Control Redis at ${address}: ${CONTROL_STATES[state] ?? state}${bestEffort ? `. Records of jobs may be lost (${bestEffort})` : ''}.`;
}
