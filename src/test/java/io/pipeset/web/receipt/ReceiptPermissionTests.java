package io.pipeset.web.receipt;

import java.time.Duration;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A receipt whose keys Redis refuses does not keep the values of others from going back.
 */
@ServiceTest(properties = "pipeset.receipts.sweep-interval=100ms")
class ReceiptPermissionTests {

	private static final String USER = "loader";

	private static final Duration SOON = Duration.ofSeconds(30);

	/** More receipts than the sweeper looks at in one go. */
	private static final int MANY = 250;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as(USER);

	private static final TestRedis redis = own.redis();

	ReceiptPermissionTests(Service service) {
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		own.permit(AclSetuserArgs.Builder.reset().keyPattern("app:*").keyPattern("pipeset:*").allCommands());
	}

	@Test
	void aListThatMayNotBeWrittenKeepsNoOtherFromBeingGivenBack() {
		for (int i = 0; i < MANY; i++) {
			receipt("refused" + i, "other:list", "waiting", i);
		}
		receipt("allowed", "app:list", "waiting", MANY);
		await().atMost(SOON).until(() -> redis.client().exists("app:list") == 1);
		assertThat(redis.client().lrange("app:list", 0, -1)).containsExactly("allowed's");
		assertThat(redis.client().zcard("pipeset:receipts")).isEqualTo(MANY);
		assertThat(redis.client().exists("other:list")).isZero();
		own.permit(AclSetuserArgs.Builder.keyPattern("other:*"));
		// The receipt is due again, as it will be by itself after a pause.
		redis.client().zadd("pipeset:receipts", 0, "refused0");
		await().atMost(SOON).until(() -> redis.client().exists("other:list") == 1);
		assertThat(redis.client().lrange("other:list", 0, -1)).containsExactly("refused0's");
	}

	@Test
	void aReceiptThatCannotEvenBePostponedKeepsNoOtherFromBeingGivenBack() {
		own.permit(AclSetuserArgs.Builder.removeCommand(CommandType.ZADD));
		for (int i = 0; i < MANY; i++) {
			receipt("refused" + i, "app:refused" + i, "waiting", i);
		}
		// Giving values back needs no ZADD once the receipt is claimed.
		receipt("allowed", "app:list", "returning", MANY);
		await().atMost(SOON).until(() -> redis.client().exists("app:list") == 1);
		assertThat(redis.client().lrange("app:list", 0, -1)).containsExactly("allowed's");
		assertThat(redis.client().zcard("pipeset:receipts")).isEqualTo(MANY);
	}

	private static void receipt(String id, String list, String state, int deadline) {
		redis.client().rpush("pipeset:" + ((state.equals("waiting")) ? "pop:" : "returning:") + id, id + "'s");
		redis.client().hset("pipeset:receipt:" + id, "state", state);
		redis.client().hset("pipeset:receipt:" + id, "key", list);
		redis.client().zadd("pipeset:receipts", deadline, id);
	}

}
