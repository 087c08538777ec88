# The images: `--target api`, `--target worker` and `--target controller`. Each contains only what its process imports: no
# npm, no compiler, no tests.

# Debian 12, pinned by the digest of its image index. `release/refresh-base.sh` updates it.
ARG BASE=debian:bookworm-20260918-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251

# Debian's npm (9) cannot write the list of packages, so it only installs a newer npm.
FROM ${BASE} AS npm
ENV NPM_CONFIG_AUDIT=false NPM_CONFIG_CACHE=/var/cache/npm NPM_CONFIG_FUND=false NPM_CONFIG_IGNORE_SCRIPTS=true \
    NPM_CONFIG_LOGLEVEL=error NPM_CONFIG_UPDATE_NOTIFIER=false
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates npm \
 && rm -rf /var/lib/apt/lists/* \
 && npm install --global npm@10.9.4
WORKDIR /app
COPY package.json package-lock.json ./

# All production packages, including Node.
FROM npm AS packages
RUN npm ci --omit=dev \
 && npm pkg delete devDependencies \
 && mv node_modules/node-linux-*/bin/node /usr/local/bin/node

# The dashboard. Its build tools stay in this stage. npm runs on our Node here, because Debian's is too old for an optional
# package of the bundler and would leave it out without a message. NODE_EXTRA_CA_CERTS makes it trust Debian's CA
# certificates.
FROM npm AS page
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
RUN NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm ci
COPY tsconfig.json ./
COPY common/contract common/contract
COPY dashboard dashboard
RUN node node_modules/vite/bin/vite.js build dashboard --logLevel error

# Removes packages that the API does not import. The list of packages is written before Node's package is removed, because
# the image contains Node.
FROM packages AS api-packages
COPY LICENSE NOTICE ./
COPY tools/third-party-notices.ts /tmp/
RUN npm uninstall --offline \
      @kubernetes/client-node @puppeteer/browsers mongodb-memory-server-core pino-pretty \
 && npm sbom --sbom-format=spdx > pressroom.spdx.json \
 && node /tmp/third-party-notices.ts node_modules > THIRD-PARTY-NOTICES.txt \
 && rm -r package-lock.json node_modules/.bin node_modules/node-linux-* \
 && find node_modules -type d -empty -delete

FROM packages AS worker-packages
COPY LICENSE NOTICE ./
COPY tools/third-party-notices.ts /tmp/
RUN npm uninstall --offline \
      @koa/router @kubernetes/client-node @modelcontextprotocol/server @node-rs/argon2 @puppeteer/browsers chrome-remote-interface commander koa lru-cache marked mongodb mongodb-memory-server-core oidc-provider \
      openid-client otpauth p-queue parse5 pdf-lib pino-pretty piscina stripe uqr \
 && npm sbom --sbom-format=spdx > pressroom.spdx.json \
 && node /tmp/third-party-notices.ts node_modules > THIRD-PARTY-NOTICES.txt \
 && rm -r package-lock.json node_modules/.bin node_modules/node-linux-* \
 && find node_modules -type d -empty -delete

FROM packages AS controller-packages
COPY LICENSE NOTICE ./
COPY tools/third-party-notices.ts /tmp/
RUN npm uninstall --offline \
      @koa/router @modelcontextprotocol/server @node-rs/argon2 @puppeteer/browsers chrome-remote-interface commander koa lru-cache marked mongodb mongodb-memory-server-core oidc-provider \
      openid-client otpauth p-queue parse5 pdf-lib pino-pretty piscina stripe uqr ws \
 && npm sbom --sbom-format=spdx > pressroom.spdx.json \
 && node /tmp/third-party-notices.ts node_modules > THIRD-PARTY-NOTICES.txt \
 && rm -r package-lock.json node_modules/.bin node_modules/node-linux-* \
 && find node_modules -type d -empty -delete

# What all images share. Their processes gain no privileges, so no program needs a setuid or setgid bit.
FROM ${BASE} AS base
RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} +

# The compile cache is written as the user that runs the image. Without configuration the process exits with code 2 once
# all modules are loaded.
FROM base AS api
WORKDIR /app
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=api-packages /app ./
COPY common common
COPY api api
COPY charts/pressroom/runbook.md charts/pressroom/
COPY docs/guides docs/guides
COPY --from=page /app/dashboard/dist dashboard/dist
# The command `pressroom` for accounts, keys, administrators and checks:
# `kubectl exec deploy/… -- pressroom accounts create acme`.
COPY cli/accounts.ts cli/admin.ts cli/ask-password.ts cli/command-name.ts cli/delete-account.ts cli/doctor.ts \
     cli/failure.ts cli/in-image.ts cli/oauth.ts cli/on-accounts.ts cli/run-program.ts cli/table.ts cli/
COPY cli/doctor cli/doctor
RUN printf '#!/bin/sh\nexec node --max-semi-space-size=4 /app/cli/in-image.ts "$@"\n' > /usr/local/bin/pressroom \
 && chmod 755 /usr/local/bin/pressroom
ENV MALLOC_ARENA_MAX=1 NODE_COMPILE_CACHE=/app/.compile-cache
RUN mkdir .compile-cache \
 && chown 10001:10001 .compile-cache \
 && setpriv --reuid=10001 --regid=10001 --clear-groups sh -c 'node --max-semi-space-size=4 api/main.ts 2>/dev/null || test $? -eq 2' \
 && chown -R root:root .compile-cache && chmod -R a+rX .compile-cache
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Pressroom API" \
      org.opencontainers.image.description="Self-hosted HTML-to-PDF service: the API." \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
EXPOSE 8080 9090
ENTRYPOINT ["node", "--max-semi-space-size=4", "/app/api/main.ts"]

# Chrome and fonts.
# tini reaps the orphans of a killed Chrome, which Node does not.
# libnss3-tools contains certutil, which adds your own certificate authorities to Chrome.
# Chromium's package requires programs of a desktop, and through them LLVM and OpenGL (170 MB). Headless Chrome uses none
# of them, so a package without files provides them. dpkg leaves out 46 MB of files that only Chromium with windows and
# developers of Chromium use.
# fontconfig caches which letters the fonts have, so that Chrome starts 0.2 s sooner. The cache is valid while the
# modification times of the folders stay the same; image layers keep them in whole seconds.
FROM base AS worker
WORKDIR /app
RUN printf 'path-exclude /usr/lib/chromium/%s\n' 'chrome_*.pak' 'libVk*' 'locales/*' resources.pak \
      > /etc/dpkg/dpkg.cfg.d/headless-chrome \
 && mkdir -p /tmp/no-desktop/DEBIAN \
 && printf '%s\n' 'Package: pressroom-no-desktop' 'Version: 1' 'Architecture: all' 'Provides: x11-utils, xdg-utils' \
      'Maintainer: Pressroom' 'Description: Programs of a desktop, which headless Chrome does not use' \
      > /tmp/no-desktop/DEBIAN/control \
 && dpkg-deb --build /tmp/no-desktop \
 && apt-get update \
 && apt-get install -y --no-install-recommends \
      /tmp/no-desktop.deb chromium-headless-shell fontconfig libnss3-tools tini \
      fonts-dejavu-core fonts-liberation fonts-noto-color-emoji fonts-noto-core \
 && rm -r /tmp/no-desktop /tmp/no-desktop.deb \
 && find /usr/share/fonts /usr/local/share/fonts -type d -exec touch --date=@1 {} + \
 && fc-cache --force --system-only \
 && chromium-headless-shell --version \
 && rm -rf /var/lib/apt/lists/* /var/log/*

# Fonts for Chinese, Japanese and Korean are 90 MB. `--build-arg FONTS=no-cjk` leaves them out.
ARG FONTS=all
RUN case "$FONTS" in \
      all) apt-get update \
        && apt-get install -y --no-install-recommends fonts-noto-cjk \
        && find /usr/share/fonts /usr/local/share/fonts -type d -exec touch --date=@1 {} + \
        && fc-cache --force --system-only \
        && rm -rf /var/lib/apt/lists/* /var/log/* ;; \
      no-cjk) ;; \
      *) echo "FONTS=$FONTS: use all or no-cjk" >&2; exit 1 ;; \
    esac
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=worker-packages /app ./
# Only the files: the folder `common/contract` is the API's.
COPY common/*.ts common/
COPY worker worker
ENV MALLOC_ARENA_MAX=1 NODE_COMPILE_CACHE=/app/.compile-cache
RUN mkdir .compile-cache \
 && chown 10001:10001 .compile-cache \
 && setpriv --reuid=10001 --regid=10001 --clear-groups sh -c 'node --max-semi-space-size=4 worker/main.ts 2>/dev/null || test $? -eq 2' \
 && chown -R root:root .compile-cache && chmod -R a+rX .compile-cache
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Pressroom worker" \
      org.opencontainers.image.description="Self-hosted HTML-to-PDF service: a worker with headless Chrome." \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
EXPOSE 9222 9090
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=4", "/app/worker/main.ts"]

# Without a cluster the controller exits with code 2 once all modules are loaded.
FROM base AS controller
WORKDIR /app
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=controller-packages /app ./
COPY common/*.ts common/
COPY crds crds
COPY controller controller
ENV MALLOC_ARENA_MAX=1 NODE_COMPILE_CACHE=/app/.compile-cache
RUN mkdir .compile-cache \
 && chown 10001:10001 .compile-cache \
 && setpriv --reuid=10001 --regid=10001 --clear-groups sh -c 'node --max-semi-space-size=4 controller/main.ts 2>/dev/null || test $? -eq 2' \
 && chown -R root:root .compile-cache && chmod -R a+rX .compile-cache
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Pressroom controller" \
      org.opencontainers.image.description="Scales the workers of Pressroom on Kubernetes with the queue." \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
EXPOSE 9090
ENTRYPOINT ["node", "--max-semi-space-size=4", "/app/controller/main.ts"]
