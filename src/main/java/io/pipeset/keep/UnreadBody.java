package io.pipeset.keep;

import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;

import org.jspecify.annotations.Nullable;

/** The body of an answer, which is not read: it may be endless. */
final class UnreadBody implements BodySubscriber<@Nullable Void> {

	@Override
	public CompletionStage<@Nullable Void> getBody() {
		return CompletableFuture.completedFuture(null);
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		subscription.cancel();
	}

	@Override
	public void onNext(List<ByteBuffer> bytes) {
	}

	@Override
	public void onError(Throwable failure) {
	}

	@Override
	public void onComplete() {
	}

}
