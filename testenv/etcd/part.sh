# The module's last part is its version, so Go names the program after the folder before it.
finish() { mv "$1/server" "$1/etcd"; }
