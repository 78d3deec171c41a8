FROM maven:3.9-eclipse-temurin-17 AS build
WORKDIR /build
COPY . .
RUN --mount=type=cache,target=/root/.m2 \
    mvn -B -ntp -DskipTests clean package \
    && mv target/pipeset-*.jar pipeset.jar \
    && java -Djarmode=tools -jar pipeset.jar extract --layers --destination layers
# zstd's native library as a file: the service would unpack it into /tmp, from which a container may not be allowed to run code.
RUN mkdir native && cd native && jar xf ../layers/dependencies/lib/zstd-jni-*.jar linux \
    && cp "linux/$(uname -m | sed s/x86_64/amd64/)"/libzstd-jni-*.so libzstd-jni.so

FROM eclipse-temurin:25-jre-noble AS service
WORKDIR /opt/pipeset
# One layer each, the rarely changing ones first: a new version ships its own classes only. The two middle ones are
# usually empty, but a pom that adds a snapshot would fill one.
COPY --from=build /build/layers/dependencies/ ./
COPY --from=build /build/layers/spring-boot-loader/ ./
COPY --from=build /build/layers/snapshot-dependencies/ ./
COPY --from=build /build/layers/application/ ./
COPY --from=build /build/native/libzstd-jni.so ./
# All JVM flags but that of the cache below, which is made with these, and left out by a JVM with another collector. The
# collector is named because under 2 CPUs or 2 GB the JVM takes the serial one, so that what was measured would not be
# what runs. Classes are not unloaded, as none come anew: looking for them was the longest pause.
ENV JAVA_TOOL_OPTIONS="-Xmx256m -XX:MaxDirectMemorySize=96m -XX:+UseG1GC -XX:-ClassUnloadingWithConcurrentMark -XX:+ExitOnOutOfMemoryError"

# A training run, against a Redis of its own: the service warms itself up, and when it is stopped the JVM writes its
# classes, loaded and linked, and the profiles of its methods into a cache. The next start begins with these. The JVM
# compares the paths and times of the jars, so that both images are made from the same layers.
FROM service AS training
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends redis-server \
    && rm -rf /var/lib/apt/lists/*
# hadolint ignore=DL3001
RUN set -e; \
    redis-server --save "" --daemonize yes; \
    sha256sum /proc/sys/kernel/random/uuid > /tmp/hash; \
    read -r hash _ < /tmp/hash; \
    java -XX:AOTCacheOutput=pipeset.aot -jar pipeset.jar --spring.data.redis.host=localhost \
        --management.server.port=8081 --management.server.address=127.0.0.1 \
        --pipeset.clients.nobody.key-sha256="$hash" \
        --pipeset.warm-up.time=10s > /tmp/training.log & service=$!; \
    until grep -q 'Ready\. Try' /tmp/training.log; do kill -0 "$service"; sleep 1; done; \
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
# The default address is loopback, which nobody outside the container reaches. The service
# refuses to start on this one until it has a client, by PIPESET_CLIENTS_<NAME>_KEYSHA256 (docs/security.md). The exception is
# PIPESET_SECURITY_ANONYMOUS=true, by which whoever runs it decides who reaches it by ports and networks alone.
ENV SERVER_ADDRESS=0.0.0.0
# Made-up records are for development, and so for whoever tries the image without clients. Spring resolves the placeholder.
ENV PIPESET_GENERATED_ENABLED='${pipeset.security.anonymous:false}'
# Health and metrics have a port of their own, with threads and connections that no upload can take.
ENV MANAGEMENT_SERVER_PORT=8081
# Numeric, so that Kubernetes can verify runAsNonRoot. The files stay root's: the process writes to /tmp only.
USER 10001:10001
EXPOSE 8080 8081
# The image has bash but neither curl nor wget. Liveness, because whoever restarts an unhealthy container would not bring
# back a lost Redis that way. A port with TLS answers 400 to this, which tells as much: that the process answers. Kubernetes
# ignores this and has probes of its own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8081 && cat >&3 <<<$'GET /actuator/health/liveness HTTP/1.0\\r\\nHost: localhost\\r\\n\\r' && read -r _ status _ <&3 && [[ $status == 200 || $status == 400 ]]"]
# Without a cache that fits, the JVM starts as if there were none.
ENTRYPOINT ["java", "-XX:AOTCache=pipeset.aot", "-DZstdNativePath=/opt/pipeset/libzstd-jni.so", "-jar", "pipeset.jar"]
