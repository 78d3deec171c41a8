// Calls to the service. Only the tab keeps the key.

const KEY = 'pipeset.key';
const root = new URL('../', document.baseURI);

/** Has the service accept a job, and run it after its answer. */
export const ASYNC = { headers: { Prefer: 'respond-async' } };

/** A call that failed. Its message is that of the service, if the service sent one. */
export class Problem extends Error {
	constructor(message, status = 0, type = '', answer = {}) {
		super(message);
		Object.assign(this, { status, type, answer, job: answer.job });
	}
}

export function address(path) {
	return new URL(path, root).href;
}

export function isKeyed() {
	return sessionStorage.getItem(KEY) !== null;
}

export function forgetKey() {
	sessionStorage.removeItem(KEY);
	location.reload();
}

function authorization() {
	return isKeyed() ? { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` } : {};
}

let keyEntry;

/** Asks the user for a key, unless the refused call had an earlier one. All calls that need a key wait for the same dialog. */
async function askForKey(refused) {
	if (refused.Authorization !== authorization().Authorization) return;
	keyEntry ??= new Promise((resolve) => {
		const dialog = document.getElementById('key');
		const form = dialog.querySelector('form');
		if (isKeyed()) {
			document.getElementById('key-why').textContent = 'No client has the key that you entered. Check it, or ask the operator of this service for another one.';
		}
		dialog.addEventListener('cancel', (event) => event.preventDefault());
		dialog.addEventListener('close', () => {
			sessionStorage.setItem(KEY, form.elements.key.value.trim());
			form.reset();
			document.getElementById('forget').hidden = false;
			keyEntry = undefined;
			resolve();
		}, { once: true });
		dialog.showModal();
	});
	await keyEntry;
}

let recovery;

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** Whether the service answers. A service that hangs counts as down. */
async function isUp() {
	return (await fetch('index.html', { cache: 'no-store', signal: AbortSignal.timeout(3000) }).catch(() => undefined))?.ok;
}

/** Shows that the service does not answer, and polls it until it does. */
export function awaitService() {
	recovery ??= (async () => {
		const banner = document.getElementById('offline');
		const since = Date.now();
		while (!await isUp()) {
			if (banner.hidden) {
				banner.textContent = 'The service does not answer. This page continues when the service is back.';
				banner.hidden = false;
			}
			banner.title = `For ${Math.round((Date.now() - since) / 1000)} s`;
			await pause(1000);
		}
		if (!banner.hidden) {
			banner.hidden = true;
			document.getElementById('announcement').textContent = 'The service is back.';
		}
		recovery = undefined;
	})();
	return recovery;
}

function problem(status, text) {
	try {
		const answer = JSON.parse(text);
		return new Problem(answer.detail ?? answer.title ?? `The service answered ${status}`, status, (answer.type ?? '').replace('urn:pipeset:problem:', ''), answer);
	} catch {
		return new Problem(`The service answered ${status} without a reason`, status);
	}
}

/**
 * Sends a request, and returns its response, whose status is a success. If the service does not answer, a GET is
 * retried when it is back. Other requests are not retried, because the service may have run them.
 */
export async function call(method, path, { headers = {}, body, signal } = {}) {
	for (;;) {
		let response;
		const authorized = authorization();
		try {
			response = await fetch(address(path), { method, headers: { ...headers, ...authorized }, body, signal, cache: 'no-store' });
		} catch (error) {
			if (signal?.aborted) throw error;
			if (method !== 'GET') {
				awaitService();
				throw new Problem('The service did not answer, so this may or may not have been done. Check the jobs when the service is back.');
			}
			await awaitService();
			await pause(100);
			continue;
		}
		if (response.status === 401) {
			await askForKey(authorized);
			continue;
		}
		if (!response.ok) throw problem(response.status, await response.text());
		return response;
	}
}

export async function json(method, path, options) {
	return (await call(method, path, options)).json();
}

/** A stream of events that is silent for this long counts as lost, because events come four times a second. */
const SILENCE_MILLIS = 5000;

/** Follows a job to its end, and reconnects if the connection is lost. EventSource cannot send a key. */
export async function* follow(id, signal) {
	for (;;) {
		const stop = new AbortController();
		const abort = () => stop.abort();
		signal.addEventListener('abort', abort);
		let silence = setTimeout(abort, SILENCE_MILLIS);
		try {
			const response = await call('GET', `v1/jobs/${id}/events`, { headers: { Accept: 'text/event-stream' }, signal: stop.signal });
			for await (const event of textsOf(response, '\n\n')) {
				clearTimeout(silence);
				silence = setTimeout(abort, SILENCE_MILLIS);
				const data = event.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.substring(5)).join('\n');
				if (data) {
					yield JSON.parse(data);
				}
				if (/^event: ?end$/m.test(event)) return;
			}
		} catch (error) {
			if (error instanceof Problem) throw error;
		} finally {
			clearTimeout(silence);
			signal.removeEventListener('abort', abort);
			stop.abort();
		}
		if (signal.aborted) return;
		await awaitService();
		await pause(200);
	}
}

/** The texts of a response that end with a separator, as they arrive. */
export async function* textsOf(response, separator) {
	let rest = '';
	for await (const part of partsOf(response.body.pipeThrough(new TextDecoderStream()))) {
		const texts = (rest + part).split(separator);
		rest = texts.pop();
		yield* texts;
	}
}

/** The parts of a stream as they arrive. Safari cannot iterate over streams. */
export async function* partsOf(stream) {
	const reader = stream.getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			yield value;
		}
	} finally {
		reader.cancel().catch(() => {});
	}
}

/** Uploads a file, and reports its progress, which fetch cannot. */
export function upload(path, headers, body, progress, signal) {
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		const authorized = authorization();
		request.open('POST', address(path));
		for (const [name, value] of Object.entries({ ...headers, ...authorized })) {
			request.setRequestHeader(name, value);
		}
		request.upload.addEventListener('progress', (event) => progress(event.loaded, event.total));
		request.addEventListener('load', () => {
			if (request.status === 401) {
				askForKey(authorized).then(() => upload(path, headers, body, progress, signal)).then(resolve, reject);
			} else if (request.status >= 400) {
				reject(problem(request.status, request.responseText));
			} else {
				resolve(JSON.parse(request.responseText));
			}
		});
		request.addEventListener('error', () => {
			awaitService();
			reject(new Problem('The upload broke off before the service had the whole file, so the service ran none of it. Send it again.'));
		});
		request.addEventListener('abort', () => reject(new Problem('The upload was stopped before the service had the whole file, so the service ran none of it.')));
		signal.addEventListener('abort', () => request.abort());
		request.send(body);
	});
}
