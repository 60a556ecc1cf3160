/**
 * Что записано о серверах и платежах, по-русски. The service keeps these notes as English sentences and gives them with what they are
 * about; none of them is a refusal. `{}` stands for whatever the service puts there.
 */
export const saidRu: Record<string, string> = {
  'the node program at {} broke off its answer': 'Программа узла {} оборвала ответ',
  'paid, but its node is gone': 'оплачен, но его сервера больше нет',
  'paid, but its plan is gone': 'оплачен, но его тарифа больше нет',
  'paid, but its subscription is gone or has no traffic quota':
    'оплачен, но его подписки больше нет или у неё нет лимита трафика',
  'the provider knows it as another payment': 'у платёжной системы это другой платёж',
  'paid with another amount': 'оплачена другая сумма',
  'paid in another currency': 'оплачен в другой валюте',
  'paid as a test': 'оплата была пробной',
  'paid after it had failed': 'оплачен после того, как не прошёл',
  'paid, but its user was deleted': 'оплачен, но пользователь удалён',
  'refunded at the provider': 'деньги возвращены в платёжной системе',
  'partly refunded at the provider: {}': 'часть денег возвращена в платёжной системе: {}',
  'granted, but its provider does not count it as paid any more':
    'подписка выдана, но платёжная система больше не считает его оплаченным',
  'not served: its port is in use by another local node, or the core takes no such short id, SNI or flow':
    'не обслуживается: порт занят другим сервером этой машины, либо ядро не принимает short id, SNI или flow',
  'its server became another node: set this one up on a server of its own, or move its users and delete it':
    'На этой машине теперь другой сервер: поставьте этот на свою машину или перенесите его пользователей и удалите его',
  'no proxy core is installed: run `npm run cores`':
    'ядро прокси не установлено: выполните npm run cores',
  'no proxy core answers on its server: where none is installed, have a new install command given out and run it there':
    'ядро прокси на сервере не отвечает: если оно не установлено, получите новую команду и выполните её там',
  'the install script failed at the step "{}": {}': 'скрипт установки остановился на шаге «{}»: {}',
  'the proxy core is not running': 'ядро прокси не запущено',
  'the running core does not hold the wanted clients': 'в работающем ядре нет нужных клиентов',
  'there is no Hysteria on the node': 'на сервере нет Hysteria',
  'Hysteria is left out: its obfs password is not 4 to 256 bytes of text':
    'Hysteria не запускается: её пароль obfs должен быть текстом от 4 до 256 байт',
  'Hysteria is not running': 'Hysteria не запущена',
  'its range of UDP ports is not redirected to Hysteria: neither nft nor iptables does it there':
    'диапазон UDP-портов не перенаправлен на Hysteria: на сервере не работают ни nft, ни iptables',
  'no SSH connection to {}: {}': 'нет связи по SSH с {}: {}',
  "{} does not let {} in with this installation's management key":
    '{} не пускает {} с ключом этой панели',
  'the server presents another host key, {}: nothing is sent to it until the key is trusted in the panel':
    'сервер предъявляет другой ключ, {}: пока вы не подтвердите ключ в панели, ему ничего не отправляется',
  "the local core has a node's name":
    'у локального ядра записано имя сервера, а своего имени у него быть не должно',
  'the server at its address is the node {}': 'по этому адресу находится сервер {}',
  'its server does not know which node it is: have a new install command given out and run it there':
    'сервер не знает, какой он из серверов панели: получите новую команду установки и выполните её там',
  'the connection to its server was given up': 'соединение с сервером закрыто',
  'its server takes no input': 'сервер не принимает отправленное',
  'the connections to servers hang': 'соединения с серверами не отвечают',
  'the connections to servers hang and are made anew':
    'соединения с серверами не отвечали и устанавливаются заново',
  'the connections to servers broke down and are made anew':
    'соединения с серверами оборвались и устанавливаются заново',
  'the connection broke before the node program answered':
    'связь оборвалась раньше, чем программа узла ответила',
  'a word for the node program is malformed': 'программе узла передано что-то не то',
  'the clients have changed': 'клиенты тем временем изменились',
  'the node lists too many clients': 'сервер перечисляет слишком много клиентов',
  'the node program did not answer "{}" within {} s': 'программа узла не ответила на «{}» за {} с',
  'the node program ended with {}: {}': 'программа узла завершилась с кодом {}: {}',
  'the node program\'s answer to "{}" {}': 'ответ программы узла на «{}» не разобрать: {}',
  'the answer is longer than {} bytes': 'ответ длиннее {} байт',
  'bash could not be started: {}': 'не удалось запустить bash: {}',
  'no node program at {}: {}': 'нет программы узла по адресу {}: {}',
  '{} of {} is nothing that may be written': 'Недопустимое значение поля {} (таблица {})',

  // Что не вышло с одним из многих пользователей
  'user not found': 'Такого пользователя нет',
  'no active or held subscription': 'нет подписки, которая действует или на паузе',
  'expires_at would be too late': 'expires_at: слишком далёкая дата',
  'there can be at most {} {}': 'Больше {} не бывает ({})',
  'not done: the database cannot be written now': 'не сделано: в базу сейчас не записать',
}
