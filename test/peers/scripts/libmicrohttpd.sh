#!/usr/bin/env bash
# GNU libmicrohttpd: Digest with MD5 and SHA-256, and Basic. Requests of one millisecond are handed one nonce, whose counts it follows.
source "$(dirname "$0")/lib.sh"
install libmicrohttpd-dev gcc libc6-dev
free_port

cat >"$DIR/server.c" <<'C'
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REALM "files@peer"
#define LIFE 300

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *text) {
  struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result refuse_digest(struct MHD_Connection *connection, int stale, enum MHD_DigestAuthAlgorithm algorithm) {
  struct MHD_Response *response = MHD_create_response_from_buffer(2, "no", MHD_RESPMEM_PERSISTENT);
  enum MHD_Result result = MHD_queue_auth_fail_response2(connection, REALM, "opaque", response, stale, algorithm);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result digest(struct MHD_Connection *connection, const char *url, enum MHD_DigestAuthAlgorithm algorithm) {
  char text[256];
  int result;
  char *name = MHD_digest_auth_get_username(connection);
  if (name == NULL) return refuse_digest(connection, MHD_NO, algorithm);
  result = MHD_digest_auth_check2(connection, REALM, name, getenv("PEER_PASSWORD"), LIFE, algorithm);
  if (strcmp(name, getenv("PEER_USER")) != 0) result = MHD_NO;
  MHD_free(name);
  if (result != MHD_YES) return refuse_digest(connection, result == MHD_INVALID_NONCE ? MHD_YES : MHD_NO, algorithm);
  snprintf(text, sizeof text, "hello from %s\n", url);
  return send_text(connection, MHD_HTTP_OK, text);
}

static enum MHD_Result basic(struct MHD_Connection *connection, const char *url) {
  char text[256];
  char *password = NULL;
  char *name = MHD_basic_auth_get_username_password(connection, &password);
  int known = name != NULL && password != NULL && !strcmp(name, getenv("PEER_USER")) && !strcmp(password, getenv("PEER_PASSWORD"));
  MHD_free(name);
  MHD_free(password);
  if (!known) {
    struct MHD_Response *response = MHD_create_response_from_buffer(2, "no", MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_basic_auth_fail_response(connection, REALM, response);
    MHD_destroy_response(response);
    return result;
  }
  snprintf(text, sizeof text, "hello from %s\n", url);
  return send_text(connection, MHD_HTTP_OK, text);
}

static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                              const char *upload, size_t *size, void **state) {
  static int seen;
  (void)data, (void)method, (void)version, (void)upload;
  if (*state == NULL) {
    *state = &seen;
    return MHD_YES;
  }
  *size = 0;
  if (!strncmp(url, "/basic/", 7)) return basic(connection, url);
  if (!strncmp(url, "/sha-256/", 9)) return digest(connection, url, MHD_DIGEST_ALG_SHA256);
  return digest(connection, url, MHD_DIGEST_ALG_MD5);
}

int main(int count, char **arguments) {
  struct sockaddr_in place = {0};
  (void)count;
  place.sin_family = AF_INET;
  place.sin_port = htons((unsigned short)atoi(arguments[1]));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, &answer, NULL, MHD_OPTION_SOCK_ADDR, &place,
                        MHD_OPTION_THREAD_POOL_SIZE, 4u, MHD_OPTION_DIGEST_AUTH_RANDOM, (size_t)8, "12345678",
                        MHD_OPTION_END)) {
    return 1;
  }
  for (;;) pause();
}
C
gcc -O1 -o "$DIR/server" "$DIR/server.c" -lmicrohttpd >"$DIR/gcc.log" 2>&1 || give_up 'the server could not be compiled'

launch server env PEER_USER=ada PEER_PASSWORD='Circle of Life' "$DIR/server" "$PORT"
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","username":"ada","password":"Circle of Life"}\n' "$PORT" | tee "$DIR/peer.json"
