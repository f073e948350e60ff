# Builds the package from this checkout and installs it: docker build -t stac-auth . (docs/pipelines.md, "In a container").
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN mkdir /packed && npm pack --pack-destination /packed && mv /packed/*.tgz /packed/package.tgz

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="stac-auth" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /packed/package.tgz /tmp/
# The last two are the optional packages of --queue, and of a token store in Redis.
RUN npm install --global --ignore-scripts --no-audit --no-fund /tmp/package.tgz bullmq@6.7.0 ioredis@5.11.1 \
 && npm cache clean --force && rm /tmp/package.tgz
# Any other user works as well, also one without an entry in /etc/passwd, and a read-only file system.
USER node
WORKDIR /data
ENTRYPOINT ["stac-auth"]
CMD ["--help"]
