#!/usr/bin/env bash
# Caddy: Basic, with bcrypt.
source "$(dirname "$0")/lib.sh"
install caddy python3
free_port

mkdir -p "$DIR/www/basic" "$DIR/home"
echo 'hello from basic' >"$DIR/www/basic/f.txt"
# Its own hash-password takes a second for each, and so does every login then.
hashed() { /usr/bin/python3 -W ignore -c 'import crypt, sys; print(crypt.crypt(sys.argv[1], crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)))' "$1"; }
cat >"$DIR/Caddyfile" <<CONF
{
  admin off
  auto_https off
}
http://127.0.0.1:$PORT {
  bind 127.0.0.1
  root * $DIR/www
  basicauth /basic/* {
    ada $(hashed 'Circle of Life')
    Jäsøn $(hashed 'Öffne dich')
  }
  file_server
}
CONF

launch caddy env HOME="$DIR/home" XDG_DATA_HOME="$DIR/home" XDG_CONFIG_HOME="$DIR/home" caddy run --config "$DIR/Caddyfile" --adapter caddyfile
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","users":{"ada":"Circle of Life","Jäsøn":"Öffne dich"}}\n' "$PORT" | tee "$DIR/peer.json"
