FROM maven:3.9-eclipse-temurin-17 AS build
WORKDIR /build
COPY . .
RUN --mount=type=cache,target=/root/.m2 \
    mvn -B -ntp -DskipTests clean package \
    && mv target/pipeset-*.jar pipeset.jar \
    && java -Djarmode=tools -jar pipeset.jar extract --layers --destination layers
# zstd's native library as a file. Otherwise the service unpacks it into /tmp, which may be mounted noexec.
RUN mkdir native && cd native && jar xf ../layers/dependencies/lib/zstd-jni-*.jar linux \
    && cp "linux/$(uname -m | sed s/x86_64/amd64/)"/libzstd-jni-*.so libzstd-jni.so

FROM eclipse-temurin:25-jre-noble AS service
WORKDIR /opt/pipeset
# One layer for each directory, the stable ones first, so that a new version ships only its own classes. The two in
# the middle are usually empty; a snapshot dependency fills one.
COPY --from=build /build/layers/dependencies/ ./
COPY --from=build /build/layers/spring-boot-loader/ ./
COPY --from=build /build/layers/snapshot-dependencies/ ./
COPY --from=build /build/layers/application/ ./
COPY --from=build /build/native/libzstd-jni.so ./
# All JVM flags except that of the AOT cache. The cache is made with these flags, and a JVM with another collector ignores
# it. G1 is named because the JVM chooses the serial collector with less than 2 CPUs or 2 GB. Classes are not unloaded,
# because none become unused, and the search for them was the longest pause.
ENV JAVA_TOOL_OPTIONS="-Xmx256m -XX:MaxDirectMemorySize=96m -XX:+UseG1GC -XX:-ClassUnloadingWithConcurrentMark -XX:+ExitOnOutOfMemoryError"

# A training run with its own Redis. The service warms itself up, and curl calls it, because the warm-up makes no requests.
# When it stops, the JVM writes its linked classes and the profiles of its methods into the AOT cache, and the next start
# uses them. The JVM compares the paths and times of the jars, so both stages use the same layers.
FROM service AS training
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends curl redis-server \
    && rm -rf /var/lib/apt/lists/*
# hadolint ignore=DL3001
RUN set -e; \
    redis-server --save "" --daemonize yes; \
    read -r key < /proc/sys/kernel/random/uuid; \
    printf %s "$key" > /tmp/key; \
    sha256sum /tmp/key > /tmp/hash; \
    read -r hash _ < /tmp/hash; \
    java -XX:AOTCacheOutput=pipeset.aot -jar pipeset.jar --spring.data.redis.host=localhost \
        --management.server.port=8081 --management.server.address=127.0.0.1 \
        --pipeset.clients.training.key-sha256="$hash" \
        --pipeset.warm-up.time=10s > /tmp/training.log & service=$!; \
    until grep -q 'Ready\. Try' /tmp/training.log; do kill -0 "$service"; sleep 1; done; \
    curl -fsS -o /dev/null -H "Authorization: Bearer $key" -H 'Content-Type: application/x-ndjson' \
        --data-binary '["SET","training","value"]' 'http://localhost:8080/v1/jobs?label=[1-1000]'; \
    kill "$service"; \
    wait "$service" || true; \
    cat /tmp/training.log; \
    grep -q 'Warmed up' /tmp/training.log; \
    test -s pipeset.aot

FROM service
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Pipeset" \
      org.opencontainers.image.description="Loads Redis in bulk through Lettuce pipelines" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=training /opt/pipeset/pipeset.aot ./
# The default address is loopback, which cannot be reached from outside the container. With this address the service starts
# only if it has a client, by PIPESET_CLIENTS_<NAME>_KEYSHA256 (docs/security.md), or with PIPESET_SECURITY_ANONYMOUS=true.
# Then only ports and networks limit who can call it.
ENV SERVER_ADDRESS=0.0.0.0
# Generated records are for development, so they are enabled only without clients. Spring resolves the placeholder.
ENV PIPESET_GENERATED_ENABLED='${pipeset.security.anonymous:false}'
# Health and metrics have a separate port, whose threads and connections uploads cannot use up.
ENV MANAGEMENT_SERVER_PORT=8081
# Numeric, so that Kubernetes can verify runAsNonRoot. Root owns the files, because the process writes only to /tmp.
USER 10001:10001
EXPOSE 8080 8081
# The image has bash, but neither curl nor wget. This checks liveness, because a restart of the container does not repair
# Redis. A port with TLS answers 400, which also shows that the process is alive. Kubernetes ignores this and uses its own
# probes.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8081 && cat >&3 <<<$'GET /actuator/health/liveness HTTP/1.0\\r\\nHost: localhost\\r\\n\\r' && read -r _ status _ <&3 && [[ $status == 200 || $status == 400 ]]"]
# If the AOT cache does not match, the JVM ignores it.
ENTRYPOINT ["java", "-XX:AOTCache=pipeset.aot", "-DZstdNativePath=/opt/pipeset/libzstd-jni.so", "-jar", "pipeset.jar"]
