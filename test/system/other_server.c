/* other_server SOCKET REPLY...: what is no berthd of ours. Each connection gets a reply, word for word, and
 * is closed.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char request[65536];
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (argc < 2 || strlen(argv[1]) >= sizeof(address.sun_path))
        return 2;
    memcpy(address.sun_path, argv[1], strlen(argv[1]) + 1);
    unlink(argv[1]);
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0) {
        perror(argv[1]);
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        int client = accept(fd, NULL, NULL);
        if (client < 0 || read(client, request, sizeof(request)) < 0)
            return 1;
        if (send(client, argv[i], strlen(argv[i]), MSG_NOSIGNAL) < 0)
            perror("send");
        shutdown(client, SHUT_WR);
        while (read(client, request, sizeof(request)) > 0)
            ;
        close(client);
    }
    return 0;
}
