#!/usr/bin/env bash
# Tomcat: Basic, and Digest with MD5, SHA-256 and both. /basic/ says that it reads UTF-8, /latin/ and /latin-md5/ read
# ISO-8859-1 and do not say so. Nonces of /short/ live for two seconds.
source "$(dirname "$0")/lib.sh"
install tomcat10 default-jre-headless
free_port
mkdir -p "$DIR"/{conf,logs,temp,work}

# Digest needs the passwords as they are.
cat >"$DIR/conf/users.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<tomcat-users>
  <user username="ada" password="Circle of Life" roles="reader"/>
  <user username="grace" password="Öffne dich" roles="reader"/>
  <user username="Jäsøn" password="Öffne dich" roles="reader"/>
  <user username="guest" password="guest" roles="visitor"/>
</tomcat-users>
XML

# What serves files; nothing else of what Debian's own one starts.
cat >"$DIR/conf/web.xml" <<'XML'
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
  <servlet><servlet-name>files</servlet-name><servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class></servlet>
  <servlet-mapping><servlet-name>files</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
  <mime-mapping><extension>txt</extension><mime-type>text/plain</mime-type></mime-mapping>
</web-app>
XML

# app NAME METHOD VALVE [REALM] : prints its context.
app() {
  local folder=$DIR/apps/$1 index
  mkdir -p "$folder/WEB-INF"
  for index in {0..7}; do echo "hello from $1/f$index.txt" >"$folder/f$index.txt"; done
  cat >"$folder/WEB-INF/web.xml" <<XML
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
  <security-constraint>
    <web-resource-collection><web-resource-name>all</web-resource-name><url-pattern>/*</url-pattern></web-resource-collection>
    <auth-constraint><role-name>reader</role-name></auth-constraint>
  </security-constraint>
  <login-config><auth-method>$2</auth-method><realm-name>$1@peer</realm-name></login-config>
  <security-role><role-name>reader</role-name></security-role>
</web-app>
XML
  cat <<XML
<Context path="/$1" docBase="$folder" containerSciFilter=".*">
  <JarScanner scanClassPath="false" scanManifest="false"/>
  <Valve className="org.apache.catalina.authenticator.$3/>
  ${4:-}
</Context>
XML
}

# Tomcat reads names as ISO-8859-1 and hashes in UTF-8: a realm has to be told to hash what was read.
MEMORY='<Realm className="org.apache.catalina.realm.MemoryRealm" pathname="conf/users.xml"'
LATIN="$MEMORY><CredentialHandler className=\"org.apache.catalina.realm.MessageDigestCredentialHandler\" encoding=\"ISO-8859-1\"/></Realm>"

cat >"$DIR/conf/server.xml" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Service name="Catalina">
    <Connector address="127.0.0.1" port="$PORT" protocol="HTTP/1.1" bindOnInit="false"/>
    <Engine name="Catalina" defaultHost="localhost">
      $MEMORY/>
      <Host name="localhost" appBase="apps" autoDeploy="false" deployOnStartup="false">
        $(app basic BASIC 'BasicAuthenticator" charset="UTF-8"')
        $(app latin BASIC 'BasicAuthenticator"')
        $(app md5 DIGEST 'DigestAuthenticator" algorithms="MD5"')
        $(app latin-md5 DIGEST 'DigestAuthenticator" algorithms="MD5"' "$LATIN")
        $(app sha-256 DIGEST 'DigestAuthenticator" algorithms="SHA-256"')
        $(app either DIGEST 'DigestAuthenticator" algorithms="SHA-256,MD5"')
        $(app short DIGEST 'DigestAuthenticator" algorithms="SHA-256,MD5" nonceValidity="2000"')
      </Host>
    </Engine>
  </Service>
</Server>
XML

export CATALINA_HOME=/usr/share/tomcat10 CATALINA_BASE=$DIR CATALINA_OPTS='-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1'
unset CATALINA_PID CATALINA_OUT JAVA_OPTS CLASSPATH
launch tomcat "$CATALINA_HOME/bin/catalina.sh" run
await "$PORT"
printf '{"url":"http://127.0.0.1:%s","users":{"ada":"Circle of Life","grace":"Öffne dich","Jäsøn":"Öffne dich"},"nonceSeconds":2}\n' "$PORT" | tee "$DIR/peer.json"
