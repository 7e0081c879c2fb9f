-- Deletes every key of the queue. {'ok'}
delete_all()
redis.call('DEL', key('events'))
return {'ok'}
