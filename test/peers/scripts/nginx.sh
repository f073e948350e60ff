#!/usr/bin/env bash
# nginx: Basic, with hashed passwords.
source "$(dirname "$0")/lib.sh"
install nginx-light openssl
free_port

mkdir -p "$DIR/www/basic" "$DIR/tmp"
chmod 711 "$DIR"
echo 'hello from basic' >"$DIR/www/basic/f.txt"
hashed() { openssl passwd -apr1 "$1"; }
printf 'ada:%s\nJäsøn:%s\n' "$(hashed 'Circle of Life')" "$(hashed 'Öffne dich')" >"$DIR/users"

cat >"$DIR/nginx.conf" <<CONF
worker_processes 1;
daemon off;
$([ "$(id -u)" != 0 ] || echo 'user root;')
pid $DIR/nginx.pid;
error_log $DIR/error.log;
events {}
http {
  access_log off;
  client_body_temp_path $DIR/tmp;
  proxy_temp_path $DIR/tmp;
  fastcgi_temp_path $DIR/tmp;
  uwsgi_temp_path $DIR/tmp;
  scgi_temp_path $DIR/tmp;
  server {
    listen 127.0.0.1:$PORT;
    root $DIR/www;
    location /basic/ { auth_basic "files@peer"; auth_basic_user_file $DIR/users; }
  }
}
CONF

PATH=$PATH:/usr/sbin launch nginx nginx -p "$DIR" -e "$DIR/error.log" -c "$DIR/nginx.conf"
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","users":{"ada":"Circle of Life","Jäsøn":"Öffne dich"}}\n' "$PORT" | tee "$DIR/peer.json"
